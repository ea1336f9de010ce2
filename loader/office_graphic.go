package loader

import (
	"encoding/xml"
	"strconv"

	"github.com/seed-d8745b77/rag/internal/mdtext"
)

// diagramTexts returns the texts of a diagram (SmartArt) by its data part, in the order in which they were written.
func (p *archive) diagramTexts(part string) ([]string, error) {
	var texts []string
	err := p.read(part, func(x *xmlReader, _ xml.StartElement) error {
		var visit func(xml.StartElement) error
		visit = func(e xml.StartElement) error {
			if e.Name.Local != "t" {
				return x.children(visit)
			}
			lines, err := slideText(x) // in a point, t is a text body
			for _, l := range lines {
				if text := mdtext.Line(l.text); text != "" {
					texts = append(texts, text)
				}
			}
			return err
		}
		return x.children(visit)
	})
	return texts, err
}

// maxChartPoints bounds the points of a series: a chart that shows more is no table for a reader.
const maxChartPoints = 1000

// chartSeries is a row of numbers in a chart.
type chartSeries struct {
	name               string
	categories, values []string
}

// chartText returns the numbers that a chart shows, kept in its part beside the drawing, as a table with the chart's
// title above: a row for each category, a column for each series.
func (p *archive) chartText(part string) (string, error) {
	title := ""
	var series []chartSeries
	err := p.read(part, func(x *xmlReader, _ xml.StartElement) error {
		var visit func(xml.StartElement) error
		visit = func(e xml.StartElement) (err error) {
			switch e.Name.Local {
			case "title":
				text, err := chartTitle(x)
				title = firstOf(title, text)
				return err
			case "ser":
				s, err := readSeries(x)
				series = append(series, s)
				return err
			}
			return x.children(visit)
		}
		return x.children(visit)
	})
	if err != nil || len(series) == 0 || len(series) > maxColumns {
		return title, err
	}
	rows := chartRows(series)
	if err := p.table(rows); err != nil {
		return "", err
	}
	table := mdtext.Tables(rows)
	if title != "" && table != "" {
		return paragraph(title) + "\n\n" + table, nil
	}
	return title + table, nil
}

// chartTitle is the text of a title: written there, or taken from a cell.
func chartTitle(x *xmlReader) (string, error) {
	title := ""
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "rich":
			lines, err := slideText(x)
			for _, l := range lines {
				title += " " + l.text
			}
			return err
		case "v":
			s, err := x.text()
			title += " " + s
			return err
		}
		return x.children(visit)
	}
	err := x.children(visit)
	return mdtext.Line(title), err
}

func readSeries(x *xmlReader) (s chartSeries, err error) {
	err = x.children(func(e xml.StartElement) error {
		var err error
		switch e.Name.Local {
		case "tx":
			s.name, err = chartTitle(x)
		case "cat", "xVal":
			s.categories, err = chartPoints(x)
		case "val", "yVal":
			s.values, err = chartPoints(x)
		default:
			err = x.skip()
		}
		return err
	})
	return s, err
}

// chartPoints returns the values kept of a range of cells, by their index.
func chartPoints(x *xmlReader) ([]string, error) {
	var points []string
	var format cellFormat
	var visit func(xml.StartElement) error
	visit = func(e xml.StartElement) error {
		switch e.Name.Local {
		case "formatCode":
			code, err := x.text()
			format = parseFormat(code)
			return err
		case "pt":
		default:
			return x.children(visit)
		}
		i, err := strconv.Atoi(attrOf(e, "idx"))
		if err != nil || i < 0 || i >= maxChartPoints {
			return x.skip()
		}
		for len(points) <= i {
			points = append(points, "")
		}
		return x.children(func(e xml.StartElement) error {
			s, err := x.text()
			if e.Name.Local == "v" && points[i] == "" {
				points[i] = format.show(mdtext.Line(s), false)
			}
			return err
		})
	}
	err := x.children(visit)
	return points, err
}

// chartRows lays the series out side by side; the first one's categories are those of all.
func chartRows(series []chartSeries) [][]string {
	header, length := []string{""}, 0
	for i, s := range series {
		header = append(header, firstOf(s.name, "Series "+strconv.Itoa(i+1)))
		length = max(length, len(s.values))
	}
	rows := [][]string{header}
	for i := range length {
		row := []string{strconv.Itoa(i + 1)}
		if c := series[0].categories; i < len(c) {
			row[0] = c[i]
		}
		for _, s := range series {
			value := ""
			if i < len(s.values) {
				value = s.values[i]
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	if length == 0 {
		return nil
	}
	return rows
}
