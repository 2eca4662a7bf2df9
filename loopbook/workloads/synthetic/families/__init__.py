"""One module for each family; every one defines `FAMILY`."""
