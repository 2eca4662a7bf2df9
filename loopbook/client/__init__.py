"""From a program to a faster one: look its nests up, port recipes, check them, keep what wins."""
