"""What each code of a message means and what to do about it; the tables of the documentation are written from it."""
