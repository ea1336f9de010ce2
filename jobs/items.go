package jobs

import (
	"container/list"
	"maps"
	"slices"
	"time"
)

// ItemState is where an item is.
type ItemState string

// States of an item.
const (
	ItemQueued  ItemState = "queued"
	ItemWorking ItemState = "working"
	ItemDone    ItemState = "done"
	ItemFailed  ItemState = "failed"
)

// Item is one of the things that a job works on, such as a file.
type Item struct {
	Key     string    `json:"key"` // what it is: a URI
	State   ItemState `json:"state"`
	Stage   string    `json:"stage,omitempty"`   // ItemWorking: in which stage
	Done    int       `json:"done,omitempty"`    // of the stage
	Total   int       `json:"total,omitempty"`   // of the stage
	Outcome string    `json:"outcome,omitempty"` // how it ended, such as the action of a source
	Note    string    `json:"note,omitempty"`    // why it ended so
	Seq     int64     `json:"seq"`               // number of its last change
	Started time.Time `json:"started,omitzero"`  // when it was first at work
	Ended   time.Time `json:"ended,omitzero"`
}

// Counts counts all items of a job, also those that are not remembered.
type Counts struct {
	Total    int            `json:"total"`
	Queued   int            `json:"queued"`
	Working  int            `json:"working"`
	Done     int            `json:"done"`
	Failed   int            `json:"failed"`
	Outcomes map[string]int `json:"outcomes"` // of the items that have ended
}

func (c *Counts) clone() Counts {
	copied := *c
	copied.Outcomes = maps.Clone(c.Outcomes)
	return copied
}

// count adds n to where the item is counted.
func (c *Counts) count(it Item, n int) {
	c.Total += n
	switch it.State {
	case ItemQueued:
		c.Queued += n
	case ItemWorking:
		c.Working += n
	case ItemDone:
		c.Done += n
	case ItemFailed:
		c.Failed += n
	}
	if it.Outcome == "" {
		return
	}
	if c.Outcomes[it.Outcome] += n; c.Outcomes[it.Outcome] == 0 {
		delete(c.Outcomes, it.Outcome)
	}
}

// items are those of one job in the order of their last change, so that what has changed is found from the back.
type items struct {
	most    int
	byKey   map[string]*list.Element // of Item
	order   *list.List
	waiting int // queued, and not remembered for want of room
	counts  Counts
}

func newItems(most int) *items {
	return &items{most: most, byKey: map[string]*list.Element{}, order: list.New(), counts: Counts{Outcomes: map[string]int{}}}
}

// put takes the new state of an item. Where there are too many, those that ended first are forgotten; where none has
// ended, one that only waits is counted and not remembered.
func (s *items) put(it Item, now time.Time) {
	at := s.byKey[it.Key]
	switch {
	case at != nil:
		old := at.Value.(Item)
		s.counts.count(old, -1)
		it.Started = old.Started
		s.order.Remove(at)
	case it.State != ItemQueued && s.waiting > 0: // it was one of those that were only counted
		s.waiting--
		s.counts.count(Item{State: ItemQueued}, -1)
	}
	s.counts.count(it, 1)
	if at == nil && len(s.byKey) >= s.most && !s.forget() && it.State == ItemQueued {
		s.waiting++
		return
	}
	if it.Started.IsZero() && it.State != ItemQueued {
		it.Started = now
	}
	if it.State == ItemDone || it.State == ItemFailed {
		it.Ended = now
	}
	s.byKey[it.Key] = s.order.PushBack(it)
}

// forget drops the item that ended first, and reports whether there was one.
func (s *items) forget() bool {
	for at := s.order.Front(); at != nil; at = at.Next() {
		it := at.Value.(Item)
		if it.State == ItemDone || it.State == ItemFailed {
			s.order.Remove(at)
			delete(s.byKey, it.Key)
			return true
		}
	}
	return false
}

// since returns the items that changed behind change number seq, in the order of their last change.
func (s *items) since(seq int64) []Item {
	found := []Item{}
	for at := s.order.Back(); at != nil && at.Value.(Item).Seq > seq; at = at.Prev() {
		found = append(found, at.Value.(Item))
	}
	slices.Reverse(found)
	return found
}
