"""Callbacks of frameworks: they tell a study of epochs, accuracy and parts that hooks in torch cannot see.

    huggingface.py  ScalestudyCallback for transformers.Trainer
    lightning.py    ScalestudyCallback for Lightning's Trainer, of `lightning` and of `pytorch_lightning`
    accelerate.py   ScalestudyTracker for accelerate.Accelerator
    metrics.py      which of a framework's metrics are the numbers of an epoch

Each needs its framework and the standard library only, from Python 3.9 on, and reports through
scalestudy.Recorder. Outside a study they do nothing.
"""
