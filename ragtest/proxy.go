package ragtest

import (
	"context"
	"net"
	"sync"
	"testing"
)

// Fault is a way in which a network goes wrong.
type Fault string

// The faults of a [Proxy]. All but the last strike one request only.
const (
	CutBefore  Fault = "cut before the request arrives" // the server sees nothing of it
	CutRequest Fault = "cut within the request"         // the server sees half of it
	CutReply   Fault = "cut before the reply"           // the server has done it, and the caller does not learn it
	CutWithin  Fault = "cut within the reply"           // the caller learns half of it
	Silence    Fault = "no reply"                       // the connection stays open, and nothing comes
	Outage     Fault = "nothing arrives from then on"   // every request is cut before it arrives, until the proxy is mended
)

// Proxy stands before a server and breaks one of the requests that pass. It knows no protocol: a request is what a client
// sends on a connection until the server answers, so that it serves HTTP as well as a database's own. Requests of several
// connections are counted together.
type Proxy struct {
	Addr string // host and port at which it listens

	target string
	mu     sync.Mutex
	conns  map[*pipe]bool
	seen   int // requests since Arm
	at     int // the request that is struck; 0: none
	how    Fault
	struck chan struct{} // closed once the fault has struck
	hit    bool
}

// NewProxy starts one before a server at host and port. It ends with the test.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: listener.Addr().String(), target: target, conns: map[*pipe]bool{}, struck: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.connect(&wg, client)
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // what was accepted is cut next
		p.CutAll()
		wg.Wait()
	})
	return p
}

// Arm has the n-th request from now on go wrong, 1 is the next; 0 is none, and mends an outage. It returns a channel that is
// closed when the fault has struck.
func (p *Proxy) Arm(n int, how Fault) (struck <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen, p.at, p.how, p.hit, p.struck = 0, n, how, false, make(chan struct{})
	return p.struck
}

// Requests returns how many were seen since the last Arm, or since the beginning, and whether the fault has struck.
func (p *Proxy) Requests() (seen int, struck bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen, p.hit
}

// CutAll closes all connections there are.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.close()
	}
}

// pipe is a connection through the proxy.
type pipe struct {
	client, server net.Conn
	asked          bool  // a request is under way; guarded by Proxy.mu, as is fault
	fault          Fault // of this request; "" is none
}

func (c *pipe) close() {
	_ = c.client.Close() // the other side may have been first
	_ = c.server.Close()
}

func (p *Proxy) connect(wg *sync.WaitGroup, client net.Conn) {
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		_ = client.Close() // as a server that is down
		return
	}
	c := &pipe{client: client, server: server}
	p.mu.Lock()
	p.conns[c] = true
	p.mu.Unlock()
	wg.Go(func() {
		c.copy(client, server, p.request)
		c.close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
	})
	wg.Go(func() {
		c.copy(server, client, p.reply)
		c.close()
	})
}

// copy passes on what comes, as far as pass lets it: n bytes of what was read, and nothing behind them if more is false.
func (c *pipe) copy(from, to net.Conn, pass func(c *pipe, size int) (n int, more bool)) {
	buf := make([]byte, 32<<10)
	for {
		size, err := from.Read(buf)
		if size > 0 {
			n, more := pass(c, size)
			if _, err := to.Write(buf[:n]); err != nil || !more {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// request decides about bytes of a client.
func (p *Proxy) request(c *pipe, size int) (n int, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !c.asked {
		c.asked = true
		p.seen++
		if p.at > 0 && (p.seen == p.at || p.seen > p.at && p.how == Outage) {
			c.fault = p.how
		}
	}
	switch c.fault {
	case CutBefore, Outage:
		p.strike()
		return 0, false
	case CutRequest:
		p.strike()
		return size / 2, false
	}
	return size, true
}

// reply decides about bytes of the server.
func (p *Proxy) reply(c *pipe, size int) (n int, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.asked = false
	switch c.fault {
	case CutReply:
		p.strike()
		return 0, false
	case CutWithin:
		p.strike()
		return size / 2, false
	case Silence:
		c.asked = true // what follows belongs to it
		p.strike()
		return 0, true
	}
	return size, true
}

// strike notes that the fault has struck.
func (p *Proxy) strike() {
	if !p.hit {
		p.hit = true
		close(p.struck)
	}
}
