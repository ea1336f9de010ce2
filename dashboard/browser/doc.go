// Package browser tests the dashboard as a person uses it, in a real browser: its tests start a dashboard over a folder of
// their own and drive it through Chromium. Each of them also fails where a page writes an error to the console, asks another
// server for something, or runs what a document says.
//
// The tests skip without a browser; scripts/install-chromium gets one, and axe-core, which looks for what keeps people from
// using a page. `go test -update` takes the pictures in docs/screens anew.
package browser
