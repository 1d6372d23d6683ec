"""Training scripts with a stopwatch of their own that are looked at: one training, written for three frameworks.

plain.py        a loop with a DataLoader; with --recorder, scalestudy.Recorder; with --trace-step, traceml-ai
huggingface.py  transformers.Trainer; with --adapter, our callback
lightning_fit.py  Lightning's Trainer; with --adapter, our callback
common.py       network, data and stopwatch of all of them
"""
