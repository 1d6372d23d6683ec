"""The verdict on a point, and the findings that stand for no cause: healthy, confounded, unexplained."""
