"""Callbacks for frameworks: they report epochs, accuracy and parts that hooks in torch cannot see.

    huggingface.py  ScalestudyCallback for transformers.Trainer
    lightning.py    ScalestudyCallback for Lightning's Trainer, of `lightning` and of `pytorch_lightning`
    accelerate.py   ScalestudyTracker for accelerate.Accelerator
    metrics.py      finds the numbers of an epoch among a framework's metrics

Each needs only its framework and the standard library of Python 3.9 or newer, and reports through
scalestudy.Recorder. Outside a study they do nothing.
"""
