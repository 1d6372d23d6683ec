"""Laws of scaling: closed forms, fits with intervals and a choice by held-out error, forecasts.

No files, no torch.
"""
