"""The GPT tab: a trained model writes, and everything inside it is open."""
