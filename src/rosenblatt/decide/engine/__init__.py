"""The exact decision of linear programs: floats find a basis, rational numbers solve it."""
