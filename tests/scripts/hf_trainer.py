"""Causal language model from scratch with the Trainer, after the HF course; random tokens instead of a tokenizer."""

import argparse

import torch
from _count import count
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments


class Tokens(Dataset):
    def __init__(self, n, seed, training=False, length=48):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(0, 200, (n, length), generator=g)
        self.training = training

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        if self.training:
            count(1, steps=0)
        return {"input_ids": self.ids[i], "attention_mask": torch.ones_like(self.ids[i]), "labels": self.ids[i]}


class Tally(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        count()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--accumulate", type=int, default=2)
    cli = parser.parse_args()

    config = GPT2Config(
        vocab_size=200, n_positions=64, n_embd=64, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = GPT2LMHeadModel(config)
    print(f"GPT-2 size: {sum(t.numel() for t in model.parameters()) / 1000:.1f}K parameters")

    args = TrainingArguments(
        output_dir="codeparrot-ds",
        per_device_train_batch_size=cli.batch_size,
        per_device_eval_batch_size=cli.batch_size,
        eval_strategy="steps",
        eval_steps=20,
        logging_steps=10,
        gradient_accumulation_steps=cli.accumulate,
        num_train_epochs=cli.epochs,
        weight_decay=0.1,
        warmup_steps=10,
        lr_scheduler_type="cosine",
        learning_rate=5e-4,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        dataloader_pin_memory=False,
        seed=0,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=Tokens(404, 0, training=True),
        eval_dataset=Tokens(64, 1),
        callbacks=[Tally()],
    )
    result = trainer.train()
    print(result.metrics)
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
