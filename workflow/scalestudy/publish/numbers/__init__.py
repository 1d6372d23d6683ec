"""Every printed number by key: numbers.json and what is made of it."""
