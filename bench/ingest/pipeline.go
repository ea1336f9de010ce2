package main

import _ "embed"

//go:embed pipeline.py
var pipeline string
