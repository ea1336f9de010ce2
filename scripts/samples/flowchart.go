package main

import (
	"fmt"
	"image"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/seed-d8745b77/rag/internal/pdffile"
)

// The flow chart, in points; its picture has chartDPI/72 pixels for each.
const (
	chartWidth, chartHeight = 480, 330
	chartDPI                = 144
)

// chart draws the flow chart. What its boxes say stands nowhere else in the document.
func chart() string {
	var b strings.Builder
	box := func(x, y, w float64, texts ...string) {
		fmt.Fprintf(&b, "%g %g %g 40 re S\n", x, y, w)
		for i, t := range texts {
			b.WriteString(pdffile.Text(pdffile.Regular, 10, x+8, y+24-13*float64(i), t))
		}
	}
	down := func(x, y float64, label string) {
		fmt.Fprintf(&b, "%g %g m %g %g l S\n%g %g m %g %g l %g %g l f\n", x, y, x, y-40, x-3, y-34, x+3, y-34, x, y-40)
		b.WriteString(pdffile.Text(pdffile.Bold, 9, x+5, y-23, label))
	}
	right := func(x, y float64, label string) {
		fmt.Fprintf(&b, "%g %g m %g %g l S\n%g %g m %g %g l %g %g l f\n", x, y, x+80, y, x+74, y-3, x+74, y+3, x+80, y)
		b.WriteString(pdffile.Text(pdffile.Bold, 9, x+5, y+5, label))
	}
	b.WriteString("1 w\n")
	box(20, 270, 190, "Online form with number WA-2026", "and fee of 45 pounds")
	down(115, 270, "")
	box(20, 190, 190, "Admissions office:", "are all documents there?")
	right(210, 210, "no")
	box(290, 190, 170, "Reminder: 7 days to send", "the rest, else closed")
	down(115, 190, "yes")
	box(20, 110, 190, "Faculty reads the file:", "4 weeks, two readers")
	right(210, 130, "below 60 points")
	box(290, 110, 170, "Refusal: appeal", "within 14 days")
	down(115, 110, "60 or more")
	box(20, 30, 190, "Offer: accept within 21 days", "and pay the deposit")
	right(210, 50, "places full")
	box(290, 30, 170, "Waiting list,", "closed on 1 August")
	return b.String()
}

// draw makes the picture of the flow chart: PDFium draws a page that has it.
func draw() (width, height int, pixels []byte, err error) {
	f := pdffile.New()
	f.Page(chartWidth, chartHeight, chart(), "")
	rc := wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling) // for one page it need not be compiled
	pool, err := webassembly.Init(webassembly.Config{MaxTotal: 1, RuntimeConfig: rc})
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = pool.Close() }()
	pdf, err := pool.GetInstance(time.Minute)
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = pdf.Close() }()
	data := f.Bytes()
	doc, err := pdf.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return 0, 0, nil, err
	}
	res, err := pdf.RenderPageInDPI(&requests.RenderPageInDPI{
		Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc.Document}}, DPI: chartDPI, ImageFormat: requests.RenderImageFormatGrayscale,
	})
	if err != nil {
		return 0, 0, nil, err
	}
	defer res.Cleanup()
	grey, ok := res.Result.RenderedImage.(*image.Gray)
	if !ok {
		return 0, 0, nil, fmt.Errorf("the picture is a %T", res.Result.RenderedImage)
	}
	size := grey.Bounds().Size()
	for y := range size.Y {
		pixels = append(pixels, grey.Pix[y*grey.Stride:y*grey.Stride+size.X]...)
	}
	return size.X, size.Y, pixels, nil
}
