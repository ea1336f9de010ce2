package ocr

// ParseTSV is parseTSV, for the fuzz target.
var ParseTSV = parseTSV
