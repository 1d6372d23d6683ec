"""Knowledge distillation: train a teacher, then a student on the teacher's logits, in one script."""

import argparse

import torch
import torch.nn as nn
import torch.optim as optim
from _count import count
from torch.utils.data import DataLoader, TensorDataset


def conv_net(width, classes=10):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * width, classes),
    )


def train(model, train_loader, epochs, learning_rate):
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.Adam(model.parameters(), lr=learning_rate)
    model.train()
    for epoch in range(epochs):
        running_loss = 0.0
        for inputs, labels in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
            count(len(inputs))
        print(f"Epoch {epoch + 1}/{epochs}, Loss: {running_loss / len(train_loader)}")


def train_knowledge_distillation(teacher, student, train_loader, epochs, learning_rate, T, soft_weight):
    ce_loss = nn.CrossEntropyLoss()
    optimizer = optim.Adam(student.parameters(), lr=learning_rate)
    teacher.eval()  # Teacher set to evaluation mode
    student.train()  # Student to train mode
    for epoch in range(epochs):
        for inputs, labels in train_loader:
            optimizer.zero_grad()
            with torch.no_grad():
                soft_targets = nn.functional.softmax(teacher(inputs) / T, dim=-1)
            student_logits = student(inputs)
            soft_prob = nn.functional.log_softmax(student_logits / T, dim=-1)
            soft = torch.sum(soft_targets * (soft_targets.log() - soft_prob)) / soft_prob.size()[0] * (T**2)
            loss = soft_weight * soft + (1 - soft_weight) * ce_loss(student_logits, labels)
            loss.backward()
            optimizer.step()
            count(len(inputs))
        print(f"Student epoch {epoch + 1}/{epochs}, Loss: {loss.item()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=40)
    parser.add_argument(
        "--epochs", type=int, default=4, help="epochs of the student; the teacher gets half of them"
    )
    args = parser.parse_args()
    torch.manual_seed(42)
    data = TensorDataset(torch.randn(1000, 3, 16, 16), torch.randint(0, 10, (1000,)))
    loader = DataLoader(data, batch_size=args.batch_size, shuffle=True)
    teacher, student = conv_net(24), conv_net(8)
    train(teacher, loader, epochs=args.epochs // 2, learning_rate=0.001)
    train_knowledge_distillation(teacher, student, loader, args.epochs, 0.001, T=2, soft_weight=0.25)
