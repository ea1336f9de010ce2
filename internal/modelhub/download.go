package modelhub

import (
	"context"
	"crypto/sha1" // of git objects, by which the hub names small files
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// download brings one file over HTTP, in as many tries as it takes. What has arrived stays in path, and the next try
// asks for the rest.
type download struct {
	url      string
	path     string
	size     int64  // bytes; 0: not known
	pin      string // SHA-256 in hex that the content must have; "": not known
	stated   string // digest that the hub states: SHA-256, or SHA-1 of a git object; "": none
	etag     string // strong validator of the content in path; "": it has none, or none is known
	progress func(done, total int64)
	stall    time.Duration
}

// maxBytes bounds a file whose size is not known: no model that can be run has a larger one.
const maxBytes = 4 << 30

// Time-outs of a connection. There is none for a whole file: it may be large and the line slow.
const (
	dialTimeout     = 15 * time.Second
	responseTimeout = 30 * time.Second // until the header is here
)

// retryError is a failure that another try may overcome.
type retryError struct {
	err   error
	after time.Duration // the hub asked to wait so long
}

func (e *retryError) Error() string { return e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

// retry wraps a failure that another try may overcome.
func retry(err error) error { return &retryError{err: err} }

// try makes one request. It reports whether any byte arrived; err is nil when the file is whole and right.
func (d *download) try(ctx context.Context) (gained bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	have, err := d.have()
	if err != nil {
		return false, err
	}
	before := d.etag
	resp, err := d.request(ctx, have)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		have = 0 // the whole file comes, also to one who asked for the rest
	case http.StatusPartialContent:
		if !continues(resp, have) || (before != "" && before != d.etag) {
			return false, d.restart("the hub sent another part than asked for")
		}
	case http.StatusRequestedRangeNotSatisfiable:
		if d.size == have && d.pin != "" { // an earlier pull ended before it could check
			return false, d.check(true)
		}
		return false, d.restart("the hub has no more bytes than are here")
	default:
		return false, statusError(resp)
	}
	if d.size == 0 && resp.ContentLength > 0 {
		d.size = have + resp.ContentLength
	}
	if err := d.keepTag(); err != nil {
		return false, err
	}
	n, err := d.receive(ctx, cancel, resp.Body, have)
	if err != nil {
		return n > 0, err
	}
	return n > 0, d.check(have > 0)
}

// have returns how many bytes an earlier try left that can be gone on from: where the card pins what must come out, or
// the hub can say that it is the same file still.
func (d *download) have() (int64, error) {
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case d.pin == "" && d.etag == "", d.size > 0 && info.Size() > d.size:
		return 0, os.Remove(d.path)
	}
	return info.Size(), nil
}

// request asks for the file from byte have on. It notes what the hub states of it: on the way to its storage it may
// redirect, and says the digest of the content in the answer that does.
func (d *download) request(ctx context.Context, have int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %v", d.url, ErrUnavailable, err)
	}
	req.Header.Set("User-Agent", "rag")
	req.Header.Set("Accept-Encoding", "identity") // offsets count the file's own bytes
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		if d.etag != "" {
			req.Header.Set("If-Range", d.etag)
		}
	}
	d.stated = ""
	client := &http.Client{
		Transport: transport,
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			d.note(next.Response.Header)
			if via[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
				return errors.New("redirected from https to http")
			}
			if len(via) > maxRedirects {
				return errors.New("redirected too often")
			}
			return nil
		},
	}
	resp, err := client.Do(req)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // the address is named once, by persist
		}
		return nil, retry(fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
	d.note(resp.Header)
	d.etag = resp.Header.Get("ETag")
	if strings.HasPrefix(d.etag, "W/") || resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusPartialContent {
		d.etag = "" // weak: the bytes may differ; or not that of the file
	}
	return resp, nil
}

const maxRedirects = 10

// transport is shared by all downloads, so that a connection serves the files of a model.
var transport = &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
	TLSHandshakeTimeout:   dialTimeout,
	ResponseHeaderTimeout: responseTimeout,
	ForceAttemptHTTP2:     true,
	DisableCompression:    true,
	IdleConnTimeout:       responseTimeout,
}

// note keeps the digest that an answer states of the content: the SHA-256 of a large file, the SHA-1 of the git object
// of a small one. Only a hub says so; the tags of other servers are no digests.
func (d *download) note(h http.Header) {
	tag := h.Get("X-Linked-Etag")
	if tag == "" && h.Get("X-Repo-Commit") != "" {
		tag = h.Get("ETag")
	}
	tag = strings.ToLower(strings.Trim(strings.TrimPrefix(tag, "W/"), `"`))
	if _, err := hex.DecodeString(tag); err == nil && d.stated == "" && (len(tag) == 2*sha256.Size || len(tag) == 2*sha1.Size) {
		d.stated = tag
	}
}

// continues reports whether an answer brings the bytes from have on.
func continues(resp *http.Response, have int64) bool {
	rest, ok := strings.CutPrefix(resp.Header.Get("Content-Range"), "bytes ")
	if !ok {
		return false
	}
	first, _, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	return err == nil && n == have
}

// tagPath is where the validator of the content in path is kept for a later pull.
func (d *download) tagPath() string { return d.path + ".etag" }

// keepTag writes the validator down before content comes that it is of.
func (d *download) keepTag() error {
	if d.etag == "" {
		return d.forget()
	}
	return os.WriteFile(d.tagPath(), []byte(d.etag), 0o644)
}

// remember reads the validator that an earlier pull left. What is pinned needs none: the digest decides.
func (d *download) remember() error {
	if d.pin != "" {
		return nil
	}
	tag, err := os.ReadFile(d.tagPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	d.etag = string(tag)
	return err
}

// forget removes the validator that was kept.
func (d *download) forget() error {
	if err := os.Remove(d.tagPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// restart throws away what has arrived and asks for another try.
func (d *download) restart(why string) error {
	d.etag = ""
	if err := os.Remove(d.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.forget(); err != nil {
		return err
	}
	return retry(fmt.Errorf("%w: %s", ErrUnavailable, why))
}

// statusError turns an answer without content into an error.
func statusError(resp *http.Response) error {
	err := fmt.Errorf("%w: %s answered %s", ErrUnavailable, resp.Request.URL.Redacted(), resp.Status)
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("%w: %s answered %s: does the hub, or the mirror, have this revision?", ErrNotFound, resp.Request.URL.Redacted(), resp.Status)
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
	default:
		if resp.StatusCode < http.StatusInternalServerError {
			return err
		}
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // a date, or nothing: the usual wait
	return &retryError{err: err, after: min(time.Duration(max(seconds, 0))*time.Second, maxRetryAfter)}
}

// maxRetryAfter bounds what a hub may ask to wait.
const maxRetryAfter = 2 * time.Minute

// receive writes the body to path from byte have on and returns how many bytes arrived.
func (d *download) receive(ctx context.Context, cancel context.CancelCauseFunc, body io.Reader, have int64) (n int64, err error) {
	f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(have); err != nil {
		return 0, err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return 0, err
	}
	watch := time.AfterFunc(d.stall, func() { cancel(fmt.Errorf("%w: nothing arrived for %v", ErrUnavailable, d.stall)) })
	defer watch.Stop()
	limit := d.size
	if limit == 0 {
		limit = maxBytes
	}
	buf := make([]byte, 256<<10)
	d.progress(have, d.size)
	for {
		got, readErr := body.Read(buf)
		if got > 0 {
			watch.Reset(d.stall)
			if have+n+int64(got) > limit {
				return n, fmt.Errorf("%s: more than %d bytes: %w", d.url, limit, ErrMismatch)
			}
			if _, err := f.Write(buf[:got]); err != nil {
				return n, err
			}
			n += int64(got)
			d.progress(have+n, d.size)
		}
		switch {
		case readErr == nil:
		case errors.Is(readErr, io.EOF):
			return n, d.ended(f, have+n)
		case ctx.Err() != nil:
			return n, retry(context.Cause(ctx))
		default:
			return n, retry(fmt.Errorf("%w: %v", ErrUnavailable, readErr))
		}
	}
}

// ended is called where the hub says that the file ends.
func (d *download) ended(f *os.File, have int64) error {
	if d.size > 0 && have < d.size {
		return retry(fmt.Errorf("%w: it ended after %d of %d bytes", ErrUnavailable, have, d.size))
	}
	return f.Sync()
}

// check compares the file with its digest. One that was resumed is fetched once more as a whole; one that came in one
// piece is wrong where it comes from.
func (d *download) check(resumed bool) error {
	f, err := digestFile(d.path)
	if err != nil {
		return err
	}
	want, got := d.pin, f.SHA256
	if want == "" && len(d.stated) == 2*sha1.Size {
		want, got = d.stated, f.git
	} else if want == "" {
		want = d.stated
	}
	if want == "" || want == got {
		return nil
	}
	if resumed {
		return d.restart("what an earlier try left does not fit the rest")
	}
	if err := os.Remove(d.path); err != nil {
		return err
	}
	return fmt.Errorf("%s has the digest %s, want %s: %w: it was not kept; is the mirror complete, and unchanged?", d.url, got, want, ErrMismatch)
}

// proof says by what the file was checked.
func (d *download) proof() string {
	switch {
	case d.pin != "":
		return ProofPinned
	case d.stated != "":
		return ProofHub
	}
	return ProofNone
}
