"""What not every operating system has, each with what is done where it is lacking: nothing else asks for the system."""
