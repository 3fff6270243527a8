"""Why a sentence is translated as it is, as plain data that can be written as JSON: phrases, features, search."""
