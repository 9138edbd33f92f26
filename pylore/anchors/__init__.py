"""The tie between what was written and the code it is about, and whether it still holds."""
