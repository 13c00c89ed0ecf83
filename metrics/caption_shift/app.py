"""The Space of this module: paste the inputs as JSON, read the figures."""

import json
from pathlib import Path

import evaluate
import gradio as gr

HERE = Path(__file__).resolve().parent
SCRIPT = next(path for path in sorted(HERE.glob("*.py")) if path.name not in ("app.py", "_core.py"))
CARD = (HERE / "README.md").read_text(encoding="utf-8").split("---\n", 2)[-1]

module = evaluate.load(str(SCRIPT))


def measure(inputs: str) -> dict:
    """The module's figures for inputs given as a JSON object; problems are shown, not raised."""
    try:
        arguments = json.loads(inputs)
    except ValueError as error:
        raise gr.Error(f"The inputs are not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise gr.Error(f"The inputs must be an object with {', '.join(module.example)}")
    try:
        return module.compute(**arguments)
    except (KeyError, TypeError, ValueError) as error:
        raise gr.Error(str(error)) from error


with gr.Blocks(title=SCRIPT.stem) as demo:
    gr.Markdown(f"# {SCRIPT.stem}\n{module.description}")
    given = gr.Code(json.dumps(module.example, indent=2), language="json", label="Inputs")
    button = gr.Button("Compute", variant="primary")
    figures = gr.JSON(label="Figures")
    button.click(measure, given, figures)
    gr.Markdown(CARD)

if __name__ == "__main__":
    demo.launch()
