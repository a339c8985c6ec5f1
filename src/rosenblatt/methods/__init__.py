"""The classical methods for systems and cones, which people come to study."""
