package rag

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/seed-d8745b77/rag/internal/cite"
)

// generate has the chat model write the answer and returns it with one form of citations. What is yielded on the way is
// that text, piece by piece.
func (a *answering) generate(ctx context.Context) (text string, err error) {
	messages, err := a.pack()
	if err != nil {
		return "", err
	}
	span, start := a.begin(StageGenerate)
	defer func() {
		if a.end(span, start); err != nil {
			span.fail(err)
		}
	}()
	span.Detail["model"] = fingerprint(a.chat)
	within := time.Duration(a.config.Answer.TimeoutMS) * time.Millisecond
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no whole reply within %v: %w", within, ErrUnavailable))
	defer cancel()
	var said, shown strings.Builder // as the model wrote it, and with one form of citations
	show := func(piece string) bool {
		if shown.Len() == 0 && piece != "" {
			span.Detail["first_text_ms"] = milliseconds(a.now().Sub(start))
		}
		shown.WriteString(piece)
		return piece == "" || a.yield(AnswerEvent{Text: piece})
	}
	stream, most := cite.NewStream(len(a.answer.Sources)), tokenBytes*a.config.Answer.MaxTokens
	var thoughts cite.Thoughts
	for delta, err := range a.chat.Chat(ctx, ChatRequest{Messages: messages, MaxTokens: a.config.Answer.MaxTokens}) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return "", err
		}
		a.answer.Usage.Add(delta.Usage)
		if delta.Stop != "" {
			span.Detail["stop"] = delta.Stop
		}
		text := delta.Text
		if most -= len(text); most <= 0 {
			text = strings.ToValidUTF8(text[:len(text)+most], "")
		}
		said.WriteString(text)
		if !show(stream.Write(thoughts.Write(text))) {
			return "", context.Canceled
		}
		if most <= 0 {
			span.Detail["stop"] = StopLength // it was told to stop before
			break
		}
	}
	show(stream.Write(thoughts.Close()) + stream.Close())
	span.Detail["output"] = said.String()
	switch span.Detail["stop"] {
	case StopLength:
		a.note(StageGenerate, "", fmt.Sprintf("the reply is cut off: it came to the limit of %d tokens (answer.max_tokens), or to the model's own", a.config.Answer.MaxTokens))
	case StopFilter:
		a.note(StageGenerate, "", "the reply is cut off: the service held the rest back")
	}
	for _, r := range stream.Rejected() {
		a.answer.Rejected = append(a.answer.Rejected, RejectedCitation(r))
	}
	span.Detail["input_tokens"], span.Detail["output_tokens"] = a.answer.Usage.InputTokens, a.answer.Usage.OutputTokens
	if strings.TrimSpace(shown.String()) == "" {
		return "", errNoReply
	}
	return shown.String(), nil
}

// tokenBytes is more than the tokens of any text have on the mean: what is longer than this for each of its tokens comes from
// a service that does not keep to max_tokens, and may never end.
const tokenBytes = 16

// cite lists the citations of the text, each with its claim and with the sentence of the source that is closest to it. Those
// in a list of sources behind the answer claim nothing.
func (a *answering) cite() {
	span, start := a.begin(StageCite)
	defer a.end(span, start)
	markers := cite.Markers(a.answer.Text)
	claims := cite.Claims(a.answer.Text, markers)
	listed := cite.Listed(a.answer.Text, markers, sourceNames(a.answer.Sources))
	for i, m := range markers {
		if listed[i] || m.Number > len(a.answer.Sources) {
			continue
		}
		claim, passage := claims[i], a.answer.Sources[m.Number-1].Hit.Chunk.Text
		quote := cite.Closest(claim, passage)
		a.answer.Citations = append(a.answer.Citations, Citation{
			Marker: m.Number, Start: m.Start, End: m.End, Claim: claim, Quote: passage[quote.Start:quote.End],
		})
	}
	span.Out = len(a.answer.Citations)
	span.In = span.Out + len(a.answer.Rejected)
	span.Detail["rejected"] = len(a.answer.Rejected)
}

// sourceNames is how an answer may call its sources.
func sourceNames(sources []AnswerSource) (names []string) {
	for i := range sources {
		c := &sources[i].Hit.Chunk
		names = append(append(names, c.Title, c.URI), c.Headings...)
		if plain, err := url.PathUnescape(c.URI); err == nil {
			names = append(names, plain)
		}
	}
	return names
}

// verify has each citation judged. An answer is good without: a verifier that fails is noted.
func (a *answering) verify(ctx context.Context) {
	if a.verifier == nil || len(a.answer.Citations) == 0 {
		return
	}
	span, start := a.begin(StageVerify)
	defer a.end(span, start)
	claims := make([]Claim, len(a.answer.Citations))
	for i, c := range a.answer.Citations {
		claims[i] = Claim{Text: c.Claim, Passage: a.texts[c.Marker-1]}
	}
	verdicts, err := a.verifier.Verify(ctx, claims)
	if err == nil && len(verdicts) != len(claims) {
		err = fmt.Errorf("the verifier gave %d verdicts on %d claims: %w", len(verdicts), len(claims), ErrInvalid)
	}
	if err != nil {
		span.fail(err)
		a.note(StageVerify, SpanFailed, "the citations were not looked at: "+err.Error())
		return
	}
	a.answer.Verified = true
	for i, v := range verdicts {
		c := &a.answer.Citations[i]
		c.Verdict, c.Reason = VerdictSupported, v.Reason
		if !v.Supported {
			c.Verdict = VerdictUnsupported
			a.answer.Verified = false
		} else {
			span.Out++
		}
	}
	span.In = len(claims)
}
