"""Files of save() and load(): archives of PyTorch, its older streams, and safetensors."""
