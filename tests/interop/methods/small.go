// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sort"
	"time"

	"connectrpc.com/connect"
	adhocv1 "github.com/grafana/pyroscope/api/gen/proto/go/adhocprofiles/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/adhocprofiles/v1/adhocprofilesv1connect"
	capabilitiesv1 "github.com/grafana/pyroscope/api/gen/proto/go/capabilities/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/capabilities/v1/capabilitiesv1connect"
	debuginfov1 "github.com/grafana/pyroscope/api/gen/proto/go/debuginfo/v1alpha1"
	"github.com/grafana/pyroscope/api/gen/proto/go/debuginfo/v1alpha1/debuginfov1alpha1connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	settingsv1 "github.com/grafana/pyroscope/api/gen/proto/go/settings/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/settings/v1/settingsv1connect"
	statusv1 "github.com/grafana/pyroscope/api/gen/proto/go/status/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/status/v1/statusv1connect"
	vcsv1 "github.com/grafana/pyroscope/api/gen/proto/go/vcs/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/vcs/v1/vcsv1connect"
	versionv1 "github.com/grafana/pyroscope/api/gen/proto/go/version/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/version/v1/versionv1connect"
)

func (t *tests) small() {
	version, err := versionv1connect.NewVersionClient(t.client, t.url, t.opts...).Version(t.ctx, connect.NewRequest(&versionv1.VersionRequest{}))
	if t.fine("Version", err) {
		t.equal("Version", version.Msg.QuerierAPI, 1)
	}
	flags, err := capabilitiesv1connect.NewFeatureFlagsServiceClient(t.client, t.url, t.opts...).GetFeatureFlags(t.ctx, connect.NewRequest(&capabilitiesv1.GetFeatureFlagsRequest{}))
	if t.fine("GetFeatureFlags", err) {
		var names []string
		for _, f := range flags.Msg.FeatureFlags {
			names = append(names, f.Name)
		}
		t.ok("GetFeatureFlags", len(names) > 0 && sort.StringsAreSorted(names), "%v", names)
	}
	t.status()
	t.settings()
	t.hidden()
}

func (t *tests) status() {
	c := statusv1connect.NewStatusServiceClient(t.client, t.url, t.opts...)
	info, err := c.GetBuildInfo(t.ctx, connect.NewRequest(&statusv1.GetBuildInfoRequest{}))
	if t.fine("GetBuildInfo", err) {
		t.ok("GetBuildInfo", info.Msg.Status == "success" && info.Msg.Data.GetVersion() != "", "%v", info.Msg)
	}
	for name, call := range map[string]func() (string, error){
		"GetConfig": func() (string, error) {
			a, err := c.GetConfig(t.ctx, connect.NewRequest(&statusv1.GetConfigRequest{}))
			if err != nil {
				return "", err
			}
			return string(a.Msg.Data), nil
		},
		"GetDefaultConfig": func() (string, error) {
			a, err := c.GetDefaultConfig(t.ctx, connect.NewRequest(&statusv1.GetConfigRequest{}))
			if err != nil {
				return "", err
			}
			return string(a.Msg.Data), nil
		},
	} {
		text, err := call()
		if t.fine(name, err) {
			t.ok(name, len(text) > 10, "%q", text)
		}
	}
	_, err = c.GetDiffConfig(t.ctx, connect.NewRequest(&statusv1.GetConfigRequest{}))
	t.fine("GetDiffConfig", err)
}

func (t *tests) settings() {
	c := settingsv1connect.NewSettingsServiceClient(t.client, t.url, t.opts...)
	name, now := "methods."+t.name, time.Now().UnixMilli()
	set := func(value string, at int64) error {
		_, err := c.Set(t.ctx, connect.NewRequest(&settingsv1.SetSettingsRequest{Setting: &settingsv1.Setting{Name: name, Value: value, ModifiedAt: at}}))
		return err
	}
	find := func() string {
		a, err := c.Get(t.ctx, connect.NewRequest(&settingsv1.GetSettingsRequest{}))
		if !t.fine("settings Get", err) {
			return ""
		}
		for _, s := range a.Msg.Settings {
			if s.Name == name {
				return s.Value
			}
		}
		return ""
	}
	t.fine("settings Set", set("one", now))
	t.equal("settings Get", find(), "one")
	t.fails("settings Set of something older", set("two", now-1000), connect.CodeAlreadyExists)
	t.equal("settings Get", find(), "one")
	_, err := c.Delete(t.ctx, connect.NewRequest(&settingsv1.DeleteSettingsRequest{Name: name}))
	t.fine("settings Delete", err)
	t.equal("settings Get after Delete", find(), "")
	_, err = c.Delete(t.ctx, connect.NewRequest(&settingsv1.DeleteSettingsRequest{}))
	t.fails("settings Delete without a name", err, connect.CodeInvalidArgument)
}

// Services that are not there say so in a way that makes clients hide them.
func (t *tests) hidden() {
	v := vcsv1connect.NewVCSServiceClient(t.client, t.url, t.opts...)
	r := settingsv1connect.NewRecordingRulesServiceClient(t.client, t.url, t.opts...)
	_, err := v.GithubApp(t.ctx, connect.NewRequest(&vcsv1.GithubAppRequest{}))
	t.fails("GithubApp", err, connect.CodeUnimplemented)
	_, err = v.GithubLogin(t.ctx, connect.NewRequest(&vcsv1.GithubLoginRequest{}))
	t.fails("GithubLogin", err, connect.CodeUnimplemented)
	_, err = v.GithubRefresh(t.ctx, connect.NewRequest(&vcsv1.GithubRefreshRequest{}))
	t.fails("GithubRefresh", err, connect.CodeUnimplemented)
	_, err = v.GetFile(t.ctx, connect.NewRequest(&vcsv1.GetFileRequest{}))
	t.fails("GetFile", err, connect.CodeUnimplemented)
	_, err = v.GetCommit(t.ctx, connect.NewRequest(&vcsv1.GetCommitRequest{}))
	t.fails("GetCommit", err, connect.CodeUnimplemented)
	_, err = v.GetCommits(t.ctx, connect.NewRequest(&vcsv1.GetCommitsRequest{}))
	t.fails("GetCommits", err, connect.CodeUnimplemented)
	_, err = r.ListRecordingRules(t.ctx, connect.NewRequest(&settingsv1.ListRecordingRulesRequest{}))
	t.fails("ListRecordingRules", err, connect.CodeUnimplemented)
	_, err = r.GetRecordingRule(t.ctx, connect.NewRequest(&settingsv1.GetRecordingRuleRequest{}))
	t.fails("GetRecordingRule", err, connect.CodeUnimplemented)
	_, err = r.UpsertRecordingRule(t.ctx, connect.NewRequest(&settingsv1.UpsertRecordingRuleRequest{}))
	t.fails("UpsertRecordingRule", err, connect.CodeUnimplemented)
	_, err = r.DeleteRecordingRule(t.ctx, connect.NewRequest(&settingsv1.DeleteRecordingRuleRequest{}))
	t.fails("DeleteRecordingRule", err, connect.CodeUnimplemented)
}

func (t *tests) adhoc() {
	c := adhocprofilesv1connect.NewAdHocProfileServiceClient(t.client, t.url, t.opts...)
	upload := func(name string, factor int64) string {
		text := base64.StdEncoding.EncodeToString(makeProfile(time.Now(), factor))
		a, err := c.Upload(t.ctx, connect.NewRequest(&adhocv1.AdHocProfilesUploadRequest{Name: name, Profile: text}))
		if !t.fine("adhoc Upload", err) {
			return ""
		}
		t.ok("adhoc Upload", a.Msg.Id != "" && len(a.Msg.ProfileTypes) == 2 && len(a.Msg.FlamebearerProfile) > 50, "%v", a.Msg)
		return a.Msg.Id
	}
	one, two := upload("one.pb.gz", 1), upload("two.pb.gz", 2)
	if one == "" || two == "" {
		return
	}
	got, err := c.Get(t.ctx, connect.NewRequest(&adhocv1.AdHocProfilesGetRequest{Id: one}))
	if t.fine("adhoc Get", err) {
		t.ok("adhoc Get", bytes.Contains([]byte(got.Msg.FlamebearerProfile), []byte(`"parse"`)), "%s", got.Msg.FlamebearerProfile)
	}
	list, err := c.List(t.ctx, connect.NewRequest(&adhocv1.AdHocProfilesListRequest{}))
	if t.fine("adhoc List", err) {
		seen := map[string]bool{}
		for _, p := range list.Msg.Profiles {
			seen[p.Id] = true
		}
		t.ok("adhoc List", seen[one] && seen[two], "%v", list.Msg)
	}
	diff, err := c.Diff(t.ctx, connect.NewRequest(&adhocv1.AdHocProfilesDiffRequest{LeftId: one, RightId: two}))
	if t.fine("adhoc Diff", err) {
		t.ok("adhoc Diff", bytes.Contains([]byte(diff.Msg.FlamebearerProfile), []byte(`"double"`)), "%s", diff.Msg.FlamebearerProfile)
	}
	_, err = c.Get(t.ctx, connect.NewRequest(&adhocv1.AdHocProfilesGetRequest{Id: "no id"}))
	t.fails("adhoc Get of a bad id", err, connect.CodeInvalidArgument)
}

func (t *tests) debuginfo() {
	c := debuginfov1alpha1connect.NewDebuginfoServiceClient(t.client, t.url, t.opts...)
	id := fmt.Sprintf("%040x", time.Now().UnixNano())
	file := &debuginfov1.FileMetadata{GnuBuildId: id, Name: "program", Type: debuginfov1.FileMetadata_TYPE_EXECUTABLE_FULL}
	should, err := c.ShouldInitiateUpload(t.ctx, connect.NewRequest(&debuginfov1.ShouldInitiateUploadRequest{File: file}))
	if !t.fine("ShouldInitiateUpload", err) {
		return
	}
	t.ok("ShouldInitiateUpload", should.Msg.ShouldInitiateUpload, "%v", should.Msg)
	self := []byte("\x7fELF and the rest of a program")
	r, err := t.client.Post(t.url+"/debuginfo.v1alpha1.DebuginfoService/Upload/"+id, "application/octet-stream", bytes.NewReader(self))
	if t.fine("debuginfo Upload", err) {
		r.Body.Close()
		t.equal("debuginfo Upload", r.StatusCode, http.StatusOK)
	}
	_, err = c.UploadFinished(t.ctx, connect.NewRequest(&debuginfov1.UploadFinishedRequest{GnuBuildId: id}))
	t.fine("UploadFinished", err)
	again, err := c.ShouldInitiateUpload(t.ctx, connect.NewRequest(&debuginfov1.ShouldInitiateUploadRequest{File: file}))
	if t.fine("ShouldInitiateUpload again", err) {
		t.ok("ShouldInitiateUpload again", !again.Msg.ShouldInitiateUpload, "%v", again.Msg)
	}
	list, err := c.ListDebuginfo(t.ctx, connect.NewRequest(&debuginfov1.ListDebuginfoRequest{}))
	if t.fine("ListDebuginfo", err) {
		found := false
		for _, o := range list.Msg.Object {
			found = found || (o.File.GetGnuBuildId() == id && o.SizeBytes == int64(len(self)))
		}
		t.ok("ListDebuginfo", found, "%v", list.Msg)
	}
	_, err = c.DeleteDebuginfo(t.ctx, connect.NewRequest(&debuginfov1.DeleteDebuginfoRequest{GnuBuildId: id}))
	t.fine("DeleteDebuginfo", err)
	_, err = c.UploadFinished(t.ctx, connect.NewRequest(&debuginfov1.UploadFinishedRequest{GnuBuildId: id}))
	t.fails("UploadFinished of nothing", err, connect.CodeNotFound)
}

// Failures keep their code, text and details in every protocol.
func (t *tests) failures() {
	_, err := t.querier().SelectMergeStacktraces(t.ctx, connect.NewRequest(&querierv1.SelectMergeStacktracesRequest{ProfileTypeID: cpuType, LabelSelector: "{}"}))
	t.fails("no range", err, connect.CodeInvalidArgument)
	var e *connect.Error
	if errors.As(err, &e) {
		t.ok("no range: text", e.Message() != "", "none")
		t.ok("no range: details", len(e.Details()) == 1 && e.Details()[0].Type() == "google.rpc.BadRequest", "%v", e.Details())
	}
	t.deadline("application/json", "Connect-Timeout-Ms", "0", []byte("{}"))
	t.deadline("application/grpc", "Grpc-Timeout", "1n", make([]byte, 5))
	none := connect.NewClient[versionv1.VersionRequest, versionv1.VersionResponse](t.client, t.url+"/version.v1.Version/Nothing", t.opts...)
	_, err = none.CallUnary(t.ctx, connect.NewRequest(&versionv1.VersionRequest{}))
	t.fails("a method that is not there", err, connect.CodeUnimplemented)
}

// A deadline that is over before the work begins: the work is not done, and the answer says why.
func (t *tests) deadline(kind, field, value string, body []byte) {
	r, err := http.NewRequest("POST", t.url+"/querier.v1.QuerierService/ProfileTypes", bytes.NewReader(body))
	if !t.fine(field, err) {
		return
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set(field, value)
	answer, err := t.client.Do(r)
	if !t.fine(field, err) {
		return
	}
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	said := answer.Header.Get("Grpc-Status") == "4" || answer.StatusCode == 504 && bytes.Contains(text, []byte(`"deadline_exceeded"`))
	t.ok(field, said, "%d %v %s", answer.StatusCode, answer.Header, text)
}
