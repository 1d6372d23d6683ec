"""The formats that are read, by the names of `--format`.

The help of the command lists them, so this module imports nothing.
"""

DECLARED = {
    "mlperf": "MLPerf `:::MLLOG`",
    "megatron": "Megatron-LM, Megatron-DeepSpeed, GPT-NeoX",
    "nanotron": "nanotron",
    "torchtitan": "torchtitan",
    "olmo": "OLMo",
    "fairseq": "fairseq, JSON and text",
    "deepspeed": "DeepSpeed",
    "trainer-console": "results of Hugging Face's Trainer in a console log",
    "console": "a console log of any other trainer: a row is a line with a step and a time or a rate",
    "progress-bar": "progress bars of tqdm, rich and Ultralytics in a console log",
    "rows-of-lines": "a console log with a row over several lines: a box, or names below a step",
    "epochs": "a console log with a line per epoch and its time",
    "spaced-table": "a console log with a table with spaces between columns: a row per step or epoch",
    "tensorboard": "TensorBoard event file",
    "trainer-state": "trainer_state.json or train_results.json of Hugging Face",
    "kineto": "trace of PyTorch's profiler or of Kineto",
    "json": "JSON lines, of any trainer, Weights & Biases, NVIDIA DLLogger or MMEngine",
    "csv": "CSV or TSV with a row per step: own, Lightning's metrics.csv, Weights & Biases",
    "mlflow": "MLflow: a run, an experiment or a store in files",
    "table": "a table with a row for each number of devices: Markdown, HTML, CSV, text",
}
"""Name -> what it is."""
