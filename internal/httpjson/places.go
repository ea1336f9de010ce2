package httpjson

import (
	"errors"
	"sync"
)

// Places are the addresses of a service that several machines offer alike. Requests go to one of them until it fails, then
// to the next in the ring: so the one that failed last comes last, and has the most time to catch up with the others. It is
// safe for concurrent use.
type Places struct {
	addresses []string

	mu sync.Mutex
	at int
}

// NewPlaces returns the places of these addresses, at least one; the first is asked first.
func NewPlaces(addresses ...string) *Places { return &Places{addresses: addresses} }

// now returns the place that is asked.
func (p *Places) now() (at int, address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, p.addresses[p.at]
}

// leave moves on from a place that failed, unless another request has done so.
func (p *Places) leave(at int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == at {
		p.at = (at + 1) % len(p.addresses)
	}
}

// broken reports whether an error is the machine's that was asked: the connection, or its own trouble. A service that asks to
// be asked less often, or says what it could not do of a request, is there.
func broken(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Code >= 500
	}
	_, refused := errors.AsType[*partError](err)
	again, _ := retriable(err)
	return again && !refused
}
