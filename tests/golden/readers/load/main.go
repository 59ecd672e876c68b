// SPDX-License-Identifier: Apache-2.0

// A service under load that profiles itself: load FOLDER COUNT. It reads and writes nested JSON; each request has a label.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"strconv"
	"time"
)

// A document that goes deep on one side, as those of editors and compilers do.
func grow(depth, seed int) map[string]any {
	if depth == 0 {
		return map[string]any{"end": seed, "text": "x<y>&z"}
	}
	side := depth / 4
	if depth < 8 {
		side = 0
	}
	return map[string]any{"inner": grow(depth-1, seed*3), "list": []any{seed, grow(side, seed*5+1)}}
}

func keys(v any, to []string) []string {
	switch x := v.(type) {
	case map[string]any:
		for k, inner := range x {
			to = keys(inner, append(to, k))
		}
	case []any:
		for _, inner := range x {
			to = keys(inner, to)
		}
	}
	return to
}

func serve(i int) int {
	text, err := json.Marshal(grow(40, i))
	if err != nil {
		panic(err)
	}
	var again any
	if err := json.Unmarshal(text, &again); err != nil {
		panic(err)
	}
	all := keys(again, nil)
	sort.Strings(all)
	return len(all)
}

func work(first int) {
	for i := first; ; i += 2 {
		pprof.Do(context.Background(), pprof.Labels("request", strconv.Itoa(i)), func(context.Context) { serve(i) })
	}
}

func main() {
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	go work(0)
	go work(1)
	for i := 0; i < count; i++ {
		f, err := os.Create(fmt.Sprintf("%s/%03d.pb.gz", os.Args[1], i))
		if err != nil {
			panic(err)
		}
		runtime.SetCPUProfileRate(500) // as often as the kernel has ticks; StartCPUProfile complains and keeps it
		if err := pprof.StartCPUProfile(f); err != nil {
			panic(err)
		}
		time.Sleep(400 * time.Millisecond)
		pprof.StopCPUProfile()
		f.Close()
	}
}
