"""The page of a metric's Space: paste the inputs as JSON, read the figures. Needs gradio."""

import json
from functools import partial
from pathlib import Path

import evaluate
import gradio as gr


def page(script: Path) -> gr.Blocks:
    """The page of a module: its card, and its example as the first input."""
    card = script.with_name("README.md").read_text(encoding="utf-8").split("---\n", 2)[-1]
    module = evaluate.load(str(script))
    with gr.Blocks(title=script.stem) as demo:
        gr.Markdown(f"# {script.stem}\n{module.description}")
        inputs = gr.Code(json.dumps(module.example, indent=2), language="json", label="Inputs")
        button = gr.Button("Compute", variant="primary")
        figures = gr.JSON(label="Figures")
        button.click(partial(measure, module), inputs, figures)
        gr.Markdown(card)
    return demo


def measure(module: evaluate.EvaluationModule, inputs: str) -> dict[str, object]:
    """The figures of inputs given as a JSON object. Raises gr.Error: what is wrong with these, for the page to show."""
    try:
        arguments = json.loads(inputs)
    except ValueError as error:
        raise gr.Error(f"The inputs are not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise gr.Error(f"The inputs must be an object with {', '.join(module.example)}")
    try:
        return dict(module.compute(**arguments))
    except (KeyError, TypeError, ValueError) as error:
        raise gr.Error(str(error)) from error
