"""The console: the page that is served beside the API, from the API's own origin."""
