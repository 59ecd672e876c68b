// SPDX-License-Identifier: Apache-2.0

// Calls every method of the compatible services with the clients that are generated from the published
// API, over each protocol, codec and HTTP version, and compares the answers with what was pushed.
//
//	methods SERVER_URL
//
// The last line is "N passed, N failed".
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
)

// One way to talk to the server.
type way struct {
	name   string
	client *http.Client
	opts   []connect.ClientOption
	url    string
}

type tests struct {
	way
	ctx            context.Context
	service        string // pushed under this name
	passed, failed int
}

func (t *tests) ok(what string, good bool, format string, args ...any) bool {
	if good {
		t.passed++
		return true
	}
	t.failed++
	fmt.Printf("FAILED %s: %s: %s\n", t.name, what, fmt.Sprintf(format, args...))
	return false
}

func (t *tests) equal(what string, got, want any) bool {
	return t.ok(what, fmt.Sprint(got) == fmt.Sprint(want), "got %v, want %v", got, want)
}

func (t *tests) fine(what string, err error) bool {
	return t.ok(what, err == nil, "%v", err)
}

// The call must fail with this code.
func (t *tests) fails(what string, err error, code connect.Code) {
	t.ok(what, err != nil && connect.CodeOf(err) == code, "got %v, want %v", err, code)
}

func client(h2 bool) *http.Client {
	p := new(http.Protocols)
	p.SetHTTP1(!h2)
	p.SetUnencryptedHTTP2(h2)
	return &http.Client{Transport: &http.Transport{Protocols: p}, Timeout: time.Minute}
}

func ways(url string) []way {
	h1, h2 := client(false), client(true)
	json, gzip := connect.WithProtoJSON(), connect.WithSendGzip()
	grpc, web := connect.WithGRPC(), connect.WithGRPCWeb()
	list := func(o ...connect.ClientOption) []connect.ClientOption { return o }
	return []way{
		{"connect-proto-h1", h1, list(), url},
		{"connect-json-h1", h1, list(json), url},
		{"connect-proto-gzip-h2", h2, list(gzip), url},
		{"connect-json-h2", h2, list(json), url},
		{"grpc-proto-h2", h2, list(grpc), url},
		{"grpc-json-gzip-h2", h2, list(grpc, json, gzip), url},
		{"grpc-proto-h1", h1, list(grpc), url},
		{"grpcweb-proto-h1", h1, list(web), url},
		{"grpcweb-json-h2", h2, list(web, json), url},
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: methods SERVER_URL")
		os.Exit(2)
	}
	url := strings.TrimSuffix(os.Args[1], "/")
	passed, failed := 0, 0
	for i, w := range ways(url) {
		t := &tests{way: w, ctx: context.Background(), service: fmt.Sprintf("interop.methods-%d", i)}
		t.run()
		fmt.Printf("%-24s %d passed, %d failed\n", w.name+":", t.passed, t.failed)
		passed, failed = passed+t.passed, failed+t.failed
	}
	t := &tests{way: way{name: "grpc-go"}, ctx: context.Background()}
	t.native(strings.TrimPrefix(url, "http://"))
	fmt.Printf("%-24s %d passed, %d failed\n", t.name+":", t.passed, t.failed)
	fmt.Printf("%d passed, %d failed\n", passed+t.passed, failed+t.failed)
	if failed+t.failed > 0 {
		os.Exit(1)
	}
}

func (t *tests) run() {
	now := time.Now()
	if !t.push(now) {
		return
	}
	t.labels(now)
	t.merges(now)
	t.seriesAndHeatmap(now)
	t.diffAndStats(now)
	t.small()
	t.adhoc()
	t.debuginfo()
	t.failures()
}
