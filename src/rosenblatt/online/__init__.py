"""Update rules, passes and the driver that runs them."""
