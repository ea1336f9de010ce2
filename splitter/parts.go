package splitter

// part is a run of units that no chunk reaches out of, [first, end).
type part struct {
	first, end int
	level      int // of the section whose text it is; 0 before the first heading
	top        int // outermost level among the headings that open it; 0 if none does
	weight     int
	text       bool // holds more than headings
}

// parts cuts the units at headings and wide gaps. Headings without text go with what follows them; a section goes with
// its subsections if s allows it and they fit.
func (s *Splitter) parts(units []unit) []part {
	return s.absorb(joinBare(borders(units)))
}

// borders cuts the units at every boundary where a cut must be.
func borders(units []unit) []part {
	var all []part
	for i, u := range units {
		if u.before == byBorder {
			all = append(all, part{first: i, level: u.level, top: u.level})
		}
		p := &all[len(all)-1]
		p.end = i + 1
		p.weight += u.weight
		p.text = p.text || u.level == 0
	}
	return all
}

// joinBare joins each part that is nothing but a heading to the part after it.
func joinBare(parts []part) []part {
	var out []part
	for _, p := range parts {
		if len(out) > 0 && !out[len(out)-1].text && p.level > 0 {
			bare := &out[len(out)-1]
			p.first, p.weight = bare.first, p.weight+bare.weight
			p.top = min(p.top, bare.top)
			*bare = p
			continue
		}
		out = append(out, p)
	}
	return out
}

// outermostAbsorbed is the outermost level of a section that may go with the section it belongs to.
const outermostAbsorbed = 3

// absorb joins a section and all its subsections where they are few and fit together.
func (s *Splitter) absorb(parts []part) []part {
	var out []part
	for i := 0; i < len(parts); {
		p, n := parts[i], 1
		if p.level > 0 {
			for i+n < len(parts) && parts[i+n].top > p.level {
				n++
			}
		}
		if n == 1 || n-1 > s.absorbed || !s.fitTogether(parts[i:i+n]) {
			n = 1
		}
		p.end = parts[i+n-1].end
		out = append(out, p)
		i += n
	}
	return out
}

// fitTogether reports whether a section and its subsections make one chunk.
func (s *Splitter) fitTogether(family []part) bool {
	weight := family[0].weight
	for _, p := range family[1:] {
		if p.top < outermostAbsorbed {
			return false
		}
		weight += p.weight
	}
	return weight <= s.sizes.MaxTokens
}
