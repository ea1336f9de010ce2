package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const eventStream = "text/event-stream"

// stream sends server-sent events, and a sign of life where nothing has come for long. Who makes one closes it.
type stream struct {
	control *http.ResponseController
	stop    chan struct{}
	stopped chan struct{}

	mu  sync.Mutex
	w   io.Writer
	err error // the reader has gone
}

// stream begins the answer.
func (c *call) stream() *stream {
	h := c.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // gateways that collect answers would hold events back
	s := &stream{control: http.NewResponseController(c.w), w: c.w, stop: make(chan struct{}), stopped: make(chan struct{})}
	_ = s.control.SetWriteDeadline(time.Time{}) // a stream may last; where deadlines cannot be set there is none
	c.w.WriteHeader(http.StatusOK)
	s.write(":\n\n")
	go s.live(c.beat)
	return s
}

// live sends signs of life.
func (s *stream) live(every time.Duration) {
	defer close(s.stopped)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			s.write(":\n\n")
		}
	}
}

// send sends one event; an ID is "" where a reader that comes back cannot go on from it. It reports whether somebody still
// reads. JSON is one line, so nothing in it ends the event; IDs and names are ours.
func (s *stream) send(id, name string, data any) bool {
	b, err := json.Marshal(data)
	if err != nil { // plain data
		panic("httpapi: " + err.Error())
	}
	text := fmt.Sprintf("event: %s\ndata: %s\n\n", name, b)
	if id != "" {
		text = "id: " + id + "\n" + text
	}
	return s.write(text)
}

func (s *stream) write(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		if _, s.err = io.WriteString(s.w, text); s.err == nil {
			s.err = s.control.Flush()
		}
	}
	return s.err == nil
}

func (s *stream) close() {
	close(s.stop)
	<-s.stopped
}
