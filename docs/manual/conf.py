"""Sphinx's configuration of the manual. No network: no fonts, scripts or styles from elsewhere."""
project = "weft"
author = "weft's authors"
copyright = "weft's authors"
extensions = []
html_theme = "alabaster"
html_theme_options = {"description": "Expressions written as NumPy's, differentiated, compiled in microseconds", "page_width": "1080px", "sidebar_width": "230px",
                      "font_family": "system-ui, sans-serif", "head_font_family": "system-ui, sans-serif", "fixed_sidebar": True, "show_powered_by": False,
                      "globaltoc_maxdepth": 2, "globaltoc_collapse": True, "globaltoc_includehidden": True}
html_sidebars = {"**": ["about.html", "searchfield.html", "globaltoc.html"]}
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_title = "weft"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
pygments_style = "friendly"
highlight_language = "pycon"
default_role = "code"
