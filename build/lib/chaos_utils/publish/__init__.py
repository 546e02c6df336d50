"""What is made of finished runs: the site, its checks and its citations."""
