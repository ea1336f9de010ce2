package loader

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// maxListLevel is the number of levels of a list.
const maxListLevel = 9

// docxNumbering are the lists of a document and where their counters stand.
type docxNumbering struct {
	abstract map[string]*abstractList
	nums     map[string]*listInstance
	styles   docxStyles
}

// abstractList is a list definition. Instances of it share its counters.
type abstractList struct {
	levels    [maxListLevel]listLevel
	known     bool // any level is defined
	styleLink string
	counts    [maxListLevel]int
	begun     [maxListLevel]bool
}

type listLevel struct {
	format string // "decimal", "bullet"
	text   string // "%1.%2."
	start  int
	style  string // paragraph style that stands for this level
	legal  bool   // all numbers in the label are decimal
	goesOn bool   // an item of an outer level does not set the counter back
}

// listInstance is a use of a definition, with levels of its own and new starts.
type listInstance struct {
	abstract  string
	levels    map[int]listLevel
	overrides map[int]int // level → start
	used      [maxListLevel]bool
}

// readNumbering reads word/numbering.xml.
func readNumbering(pkg *archive, part string, styles docxStyles) (*docxNumbering, error) {
	n := &docxNumbering{abstract: map[string]*abstractList{}, nums: map[string]*listInstance{}, styles: styles}
	err := pkg.read(part, func(x *xmlReader, _ xml.StartElement) error {
		return x.children(func(e xml.StartElement) (err error) {
			switch e.Name.Local {
			case "abstractNum":
				n.abstract[attrOf(e, "abstractNumId")], err = readAbstract(x)
				return err
			case "num":
				n.nums[attrOf(e, "numId")], err = readInstance(x)
				return err
			}
			return x.skip()
		})
	})
	return n, err
}

func readAbstract(x *xmlReader) (*abstractList, error) {
	a := &abstractList{}
	err := x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "lvl":
			i := listLevelOf(e)
			l, err := readLevel(x)
			a.levels[i], a.known = l, true
			return err
		case "numStyleLink":
			a.styleLink = attrOf(e, "val")
		}
		return x.skip()
	})
	return a, err
}

func listLevelOf(e xml.StartElement) int {
	i, _ := strconv.Atoi(attrOf(e, "ilvl"))
	return min(max(i, 0), maxListLevel-1)
}

func readLevel(x *xmlReader) (listLevel, error) {
	l := listLevel{format: "decimal"}
	err := x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "start":
			l.start, _ = strconv.Atoi(attrOf(e, "val"))
		case "numFmt":
			l.format = attrOf(e, "val")
		case "lvlText":
			l.text = attrOf(e, "val")
		case "pStyle":
			l.style = attrOf(e, "val")
		case "isLgl":
			l.legal = on(e)
		case "lvlRestart":
			l.goesOn = attrOf(e, "val") == "0"
		}
		return x.skip()
	})
	return l, err
}

func readInstance(x *xmlReader) (*listInstance, error) {
	in := &listInstance{levels: map[int]listLevel{}, overrides: map[int]int{}}
	err := x.children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "abstractNumId":
			in.abstract = attrOf(e, "val")
		case "lvlOverride":
			level := listLevelOf(e)
			return x.children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "startOverride":
					if n := intAttr(e); n != nil {
						in.overrides[level] = *n
					}
				case "lvl":
					l, err := readLevel(x)
					in.levels[level] = l
					return err
				}
				return x.skip()
			})
		}
		return x.skip()
	})
	return in, err
}

// label counts a list item and returns its marker, "-" for a bullet and "" for none, and its 0-based level.
func (n *docxNumbering) label(p paragraphProps) (marker string, level int, ok bool) {
	numID, level, byStyle, ok := n.styles.numbering(p)
	if !ok {
		return "", 0, false
	}
	in := n.nums[numID]
	if in == nil {
		return "", 0, false
	}
	a := n.resolve(in.abstract)
	if a == nil {
		return "", 0, false
	}
	level = min(max(level, 0), maxListLevel-1)
	if byStyle != "" {
		for i, l := range a.levels {
			if l.style == byStyle {
				level = i
			}
		}
	}
	a.count(in, level)
	return a.marker(in, level), level, true
}

// resolve follows a definition that refers to a list style to the definition that the style uses.
func (n *docxNumbering) resolve(id string) *abstractList {
	a := n.abstract[id]
	if a == nil || a.known || a.styleLink == "" {
		return a
	}
	style, ok := n.styles[a.styleLink]
	if !ok || style.props.numID == nil {
		return a
	}
	if in := n.nums[*style.props.numID]; in != nil && n.abstract[in.abstract] != nil {
		return n.abstract[in.abstract]
	}
	return a
}

// count moves the counter of a level on and sets those below back. The first item of an instance with a start of its
// own begins there.
func (a *abstractList) count(in *listInstance, level int) {
	start, override := in.overrides[level]
	switch {
	case override && !in.used[level]:
		a.counts[level] = start
	case a.begun[level]:
		a.counts[level]++
	default:
		a.counts[level] = a.level(in, level).start
	}
	in.used[level], a.begun[level] = true, true
	for i := range level {
		if !a.begun[i] { // an item may skip levels: they count as begun
			a.begun[i], a.counts[i] = true, a.level(in, i).start
		}
	}
	for i := level + 1; i < maxListLevel; i++ {
		a.begun[i] = a.begun[i] && a.level(in, i).goesOn
	}
}

func (a *abstractList) level(in *listInstance, i int) listLevel {
	if l, ok := in.levels[i]; ok {
		return l
	}
	return a.levels[i]
}

// marker writes the label of the item that was counted last.
func (a *abstractList) marker(in *listInstance, level int) string {
	l := a.level(in, level)
	switch l.format {
	case "bullet":
		return "-"
	case "none":
		return ""
	}
	text := l.text
	for i := range level + 1 {
		format := a.level(in, i).format
		if l.legal {
			format = "decimal"
		}
		text = strings.ReplaceAll(text, "%"+strconv.Itoa(i+1), formatNumber(a.counts[i], format))
	}
	return strings.TrimSpace(text)
}
