"""Fine-tuning encoders and predicting with them; the only room that needs PyTorch."""
