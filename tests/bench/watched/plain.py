"""A loop as people write it."""

import contextlib

import torch
from common import Stopwatch, arguments, loader, loss_of, network

told = arguments("--recorder", "--trace-step")
stopwatch = Stopwatch()
model = network(told.size)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = loader(told.size, told.steps, stopwatch)
around = contextlib.nullcontext
if told.recorder:
    import scalestudy

    batches = scalestudy.Recorder().steps(batches)
if told.trace_step:
    import traceml_ai

    traceml_ai.init(mode="auto")

    def around() -> contextlib.AbstractContextManager[None]:
        return traceml_ai.trace_step(model)


for inputs, targets in batches:
    with around():
        loss = loss_of(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    stopwatch.stamp()
stopwatch.write(told.stopwatch)
