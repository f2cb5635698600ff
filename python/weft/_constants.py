"""Constants of the array API standard: Python floats, weak beside arrays."""
import math

e, inf, nan, pi = math.e, math.inf, math.nan, math.pi
newaxis = None
