"""The peer: the least Gradio app that imports torch and answers a slider with HTML.

One event, unqueued and without a progress display as ours are, and one named
endpoint that returns a constant. `python -m benchmarks.bare_app --port N`.
"""

from __future__ import annotations

import argparse

import gradio as gr
import torch


def show(value: float) -> str:
    """The slider's value, as a page would show it."""
    return f"<p>{value}</p>"


def constant() -> float:
    """The same number to everyone."""
    return 1.0


def build() -> gr.Blocks:
    """A slider, the HTML it drives, and `/constant`."""
    with gr.Blocks() as demo:
        slider = gr.Slider(0, 100, value=50, label="Value", elem_id="slider")
        html = gr.HTML(show(50), elem_id="shown")
        slider.input(
            show, slider, html, queue=False, show_progress="hidden", trigger_mode="always_last"
        )
        gr.api(constant, api_name="constant", queue=False)
    return demo


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    torch.set_num_threads(1)
    build().launch(server_port=parser.parse_args().port, quiet=True, share=False, ssr_mode=False)


if __name__ == "__main__":
    main()
