"""Every printed number by key: numbers.json and the files made from it."""
