"""A small BERT, initialised from a config, learns with the Trainer which of two tokens is more frequent."""

from dataclasses import dataclass, field

import torch
from scalestudy.adapters.huggingface import ScalestudyCallback
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    HfArgumentParser,
    Trainer,
    TrainingArguments,
)


@dataclass
class ModelArguments:
    hidden_size: int = field(default=64, metadata={"help": "Width of the model."})
    num_layers: int = field(default=2, metadata={"help": "Layers of the model."})


class Sequences(Dataset):
    def __init__(self, count, seed, length=24):
        generator = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(3, 20, (count, length), generator=generator)
        share = torch.rand(count, 1, generator=generator)
        marked = torch.rand(count, length, generator=generator) < 0.5
        which = torch.where(torch.rand(count, length, generator=generator) < share, 1, 2)
        self.ids = torch.where(marked, which, self.ids)
        self.labels = ((self.ids == 1).sum(1) > (self.ids == 2).sum(1)).long()

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.labels[index]}


def compute_metrics(prediction):
    return {"accuracy": float((prediction.predictions.argmax(axis=1) == prediction.label_ids).mean())}


def main():
    parser = HfArgumentParser((ModelArguments, TrainingArguments))
    model_args, training_args = parser.parse_args_into_dataclasses()

    torch.manual_seed(training_args.seed)
    config = BertConfig(
        vocab_size=32,
        hidden_size=model_args.hidden_size,
        num_hidden_layers=model_args.num_layers,
        num_attention_heads=4,
        intermediate_size=4 * model_args.hidden_size,
        max_position_embeddings=32,
        num_labels=2,
    )
    trainer = Trainer(
        model=BertForSequenceClassification(config),
        args=training_args,
        train_dataset=Sequences(1920, seed=1),
        eval_dataset=Sequences(480, seed=2),
        compute_metrics=compute_metrics,
        callbacks=[ScalestudyCallback(accuracy="accuracy")],
    )
    trainer.train()
    for entry in trainer.state.log_history:
        if "eval_accuracy" in entry and trainer.is_world_process_zero():
            print(f"epoch {entry['epoch']:g}: accuracy {entry['eval_accuracy']:.4f}", flush=True)


if __name__ == "__main__":
    main()
