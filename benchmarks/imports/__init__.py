"""What imports are measured with: a load file of any shape, the application's handlers, and their baselines."""
