package dashboard

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// event is one message of a stream.
type event struct {
	ID   string // the browser names the last one it saw when it comes back; "": it has none
	Name string // what the page listens for
	Data any    // as JSON
}

// heartbeat is the longest silence of a stream: gateways cut connections on which nothing comes, most after 30 s and more.
const heartbeat = 15 * time.Second

// lastEvent returns the ID of the last event that the browser has seen of a stream that broke, "" at its beginning.
func (r *request) lastEvent() string {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	return r.param("last_event_id") // where a page was rendered with what came before
}

// stream sends events (text/event-stream) until the channel is closed, the reader goes, or the server ends. Who sends into the
// channel stops when ctx of the request is done.
func (s *Server) stream(w http.ResponseWriter, r *request, events <-chan event) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // gateways that collect answers would hold events back
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // a stream may last; where deadlines cannot be set there is none
	w.WriteHeader(http.StatusOK)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		if err := control.Flush(); err != nil {
			return nil // the reader has gone
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-s.ended.Done():
			return nil
		case <-beat.C:
			_, _ = io.WriteString(w, ":\n\n")
		case e, ok := <-events:
			if !ok {
				return nil
			}
			writeEvent(w, e)
			beat.Reset(heartbeat)
		}
	}
}

// writeEvent writes one message. JSON is one line, so nothing in it ends the event; IDs and names are ours.
func writeEvent(w io.Writer, e event) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		data, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	if e.ID != "" {
		fmt.Fprintf(w, "id: %s\n", e.ID)
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Name, data)
}
