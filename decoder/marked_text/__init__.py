"""Text with marks, such as HTML: the sentences to translate, and the places of marks in translations."""
