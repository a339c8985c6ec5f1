"""Mail that learns from corrections: messages, their features, the filter and its commands."""
