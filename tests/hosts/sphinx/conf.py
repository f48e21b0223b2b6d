project = "Positions"
html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_favicon = "icon.svg"
html_static_path = ["posenc"]
html_js_files = [("posenc.js", {"type": "module"})]
