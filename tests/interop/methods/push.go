// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"time"

	"connectrpc.com/connect"
	profilev1 "github.com/grafana/pyroscope/api/gen/proto/go/google/v1"
	pushv1 "github.com/grafana/pyroscope/api/gen/proto/go/push/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/push/v1/pushv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"
)

const (
	cpuType = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
	span    = "0123456789abcdef"
	tick    = 10_000_000 // ns of one sample
)

// What every profile holds: stacks from the root, and how many samples of each.
var stacks = []struct {
	frames  []string
	samples int64
	span    string
}{
	{[]string{"main", "handle", "encode"}, 3, span},
	{[]string{"main", "handle", "parse"}, 5, ""},
	{[]string{"main", "idle"}, 2, ""},
}

// The profiles that are pushed: pod, age, and a factor on the samples.
var pushes = []struct {
	pod    string
	age    time.Duration
	factor int64
}{{"a", 40 * time.Second, 1}, {"b", 25 * time.Second, 2}, {"a", 10 * time.Second, 3}}

// Sum of samples over the pushes of a pod ("": all) and the stacks that hold a function ("": all).
func truth(pod, function string) int64 {
	var sum int64
	for _, p := range pushes {
		for _, s := range stacks {
			hit := function == ""
			for _, f := range s.frames {
				hit = hit || f == function
			}
			if hit && (pod == "" || pod == p.pod) {
				sum += s.samples * p.factor
			}
		}
	}
	return sum * tick
}

type table struct {
	profile *profilev1.Profile
	index   map[string]int64
}

func (t *table) str(s string) int64 {
	if i, ok := t.index[s]; ok {
		return i
	}
	i := int64(len(t.profile.StringTable))
	t.profile.StringTable = append(t.profile.StringTable, s)
	t.index[s] = i
	return i
}

// One function, one location of the same id.
func (t *table) location(name string) uint64 {
	for _, f := range t.profile.Function {
		if t.profile.StringTable[f.Name] == name {
			return f.Id
		}
	}
	id := uint64(len(t.profile.Function) + 1)
	t.profile.Function = append(t.profile.Function, &profilev1.Function{Id: id, Name: t.str(name), Filename: t.str(name + ".go")})
	t.profile.Location = append(t.profile.Location,
		&profilev1.Location{Id: id, MappingId: 1, Line: []*profilev1.Line{{FunctionId: id, Line: int64(id)}}})
	return id
}

func makeProfile(at time.Time, factor int64) []byte {
	t := table{&profilev1.Profile{}, map[string]int64{}}
	t.str("")
	p := t.profile
	kind := func(name, unit string) *profilev1.ValueType {
		return &profilev1.ValueType{Type: t.str(name), Unit: t.str(unit)}
	}
	p.SampleType = []*profilev1.ValueType{kind("samples", "count"), kind("cpu", "nanoseconds")}
	p.PeriodType, p.Period = kind("cpu", "nanoseconds"), tick
	p.TimeNanos, p.DurationNanos = at.UnixNano(), int64(10*time.Second)
	p.Mapping = []*profilev1.Mapping{{Id: 1, HasFunctions: true, Filename: t.str("program")}}
	for _, s := range stacks {
		sample := &profilev1.Sample{Value: []int64{s.samples * factor, s.samples * factor * tick}}
		for i := len(s.frames) - 1; i >= 0; i-- {
			sample.LocationId = append(sample.LocationId, t.location(s.frames[i]))
		}
		if s.span != "" {
			sample.Label = []*profilev1.Label{{Key: t.str("span_id"), Str: t.str(s.span)}}
		}
		p.Sample = append(p.Sample, sample)
	}
	raw, err := p.MarshalVT()
	if err != nil {
		panic(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(raw)
	z.Close()
	return zipped.Bytes()
}

func (t *tests) push(now time.Time) bool {
	c := pushv1connect.NewPusherServiceClient(t.client, t.url, t.opts...)
	for _, p := range pushes {
		labels := []*typesv1.LabelPair{{Name: "__name__", Value: "process_cpu"}, {Name: "pod", Value: p.pod},
			{Name: "service_name", Value: t.service}}
		_, err := c.Push(t.ctx, connect.NewRequest(&pushv1.PushRequest{Series: []*pushv1.RawProfileSeries{
			{Labels: labels, Samples: []*pushv1.RawSample{{RawProfile: makeProfile(now.Add(-p.age), p.factor)}}}}}))
		if !t.fine("Push", err) {
			return false
		}
	}
	_, err := c.Push(t.ctx, connect.NewRequest(&pushv1.PushRequest{Series: []*pushv1.RawProfileSeries{
		{Labels: []*typesv1.LabelPair{{Name: "service_name", Value: t.service}},
			Samples: []*pushv1.RawSample{{RawProfile: []byte("no profile")}}}}}))
	t.fails("Push of what is no profile", err, connect.CodeInvalidArgument)
	_, err = c.Push(t.ctx, connect.NewRequest(&pushv1.PushRequest{}))
	t.fails("Push of nothing", err, connect.CodeInvalidArgument)
	return true
}
