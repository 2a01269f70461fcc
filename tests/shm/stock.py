#!/usr/bin/env python3
"""Kernels that Triton itself pipelines and warp-specialises, compiled on the host for sm80, sm90 and sm100:
python stock.py DIRECTORY [NAME...]. The texts under stock/ are of Triton 3.8 at 1, 3 and 5 stages, without locations;
expect_stock.txt says what is proved. None may be reported."""
import os
import re
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
@triton.jit
def matmul(a_ptr,b_ptr,c_ptr,M,N,K, BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
    a=a_ptr+rm[:,None]*K+rk[None,:]; b=b_ptr+rk[:,None]*N+rn[None,:]
    acc=tl.zeros((BM,BN),dtype=tl.float32)
    for k in range(0,tl.cdiv(K,BK)):
        x=tl.load(a); y=tl.load(b)
        acc=tl.dot(x,y,acc)
        a+=BK; b+=BK*N
    tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def matmul_tma(a_ptr,b_ptr,c_ptr,M,N,K, BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr, WS: tl.constexpr):
    ad=tl.make_tensor_descriptor(a_ptr,[M,K],[K,1],[BM,BK])
    bd=tl.make_tensor_descriptor(b_ptr,[K,N],[N,1],[BK,BN])
    cd=tl.make_tensor_descriptor(c_ptr,[M,N],[N,1],[BM,BN])
    pm=tl.program_id(0); pn=tl.program_id(1)
    acc=tl.zeros((BM,BN),dtype=tl.float32)
    for k in tl.range(0,tl.cdiv(K,BK),warp_specialize=WS):
        x=ad.load([pm*BM,k*BK]); y=bd.load([k*BK,pn*BN])
        acc=tl.dot(x,y,acc)
    cd.store([pm*BM,pn*BN],acc.to(tl.float16))
@triton.jit
def persistent(a_ptr,b_ptr,c_ptr,M,N,K, BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr, WS: tl.constexpr, FL: tl.constexpr):
    ad=tl.make_tensor_descriptor(a_ptr,[M,K],[K,1],[BM,BK])
    bd=tl.make_tensor_descriptor(b_ptr,[K,N],[N,1],[BK,BN])
    cd=tl.make_tensor_descriptor(c_ptr,[M,N],[N,1],[BM,BN])
    nm=tl.cdiv(M,BM); nn=tl.cdiv(N,BN); kt=tl.cdiv(K,BK)
    for t in tl.range(tl.program_id(0),nm*nn,tl.num_programs(0),flatten=FL,warp_specialize=WS):
        pm=t//nn; pn=t%nn
        acc=tl.zeros((BM,BN),dtype=tl.float32)
        for k in range(0,kt):
            x=ad.load([pm*BM,k*BK]); y=bd.load([k*BK,pn*BN])
            acc=tl.dot(x,y,acc)
        cd.store([pm*BM,pn*BN],acc.to(tl.float16))
@triton.jit
def persistent_ptr(a_ptr,b_ptr,c_ptr,M,N,K, BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    nm=tl.cdiv(M,BM); nn=tl.cdiv(N,BN)
    for t in range(tl.program_id(0),nm*nn,tl.num_programs(0)):
        pm=t//nn; pn=t%nn
        rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
        a=a_ptr+rm[:,None]*K+rk[None,:]; b=b_ptr+rk[:,None]*N+rn[None,:]
        acc=tl.zeros((BM,BN),dtype=tl.float32)
        for k in range(0,tl.cdiv(K,BK)):
            acc=tl.dot(tl.load(a),tl.load(b),acc)
            a+=BK; b+=BK*N
        tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def attn_inner(acc,l,m,q,k_desc,v_desc,lo,hi,base,scale,offs_m,offs_n, BM: tl.constexpr,BN: tl.constexpr, MASK: tl.constexpr, WS: tl.constexpr):
    for n in tl.range(lo,hi,BN,warp_specialize=WS):
        k=k_desc.load([base+n,0]).T
        qk=tl.dot(q,k)
        if MASK:
            qk=qk*scale+tl.where(offs_m[:,None]>=(n+offs_n[None,:]),0,-1.0e6)
            mn=tl.maximum(m,tl.max(qk,1)); qk-=mn[:,None]
        else:
            mn=tl.maximum(m,tl.max(qk,1)*scale); qk=qk*scale-mn[:,None]
        p=tl.math.exp2(qk)
        alpha=tl.math.exp2(m-mn)
        l=l*alpha+tl.sum(p,1)
        acc=acc*alpha[:,None]
        v=v_desc.load([base+n,0])
        acc=tl.dot(p.to(tl.float16),v,acc)
        m=mn
    return acc,l,m
@triton.jit
def attention(q_ptr,k_ptr,v_ptr,o_ptr,scale,Z,N, BM: tl.constexpr,BN: tl.constexpr,D: tl.constexpr, CAUSAL: tl.constexpr, WS: tl.constexpr):
    qd=tl.make_tensor_descriptor(q_ptr,[Z*N,D],[D,1],[BM,D])
    kd=tl.make_tensor_descriptor(k_ptr,[Z*N,D],[D,1],[BN,D])
    vd=tl.make_tensor_descriptor(v_ptr,[Z*N,D],[D,1],[BN,D])
    od=tl.make_tensor_descriptor(o_ptr,[Z*N,D],[D,1],[BM,D])
    pm=tl.program_id(0); z=tl.program_id(1)
    base=z*N
    offs_m=pm*BM+tl.arange(0,BM); offs_n=tl.arange(0,BN)
    m=tl.zeros([BM],dtype=tl.float32)-float("inf"); l=tl.zeros([BM],dtype=tl.float32)+1.0
    acc=tl.zeros([BM,D],dtype=tl.float32)
    q=qd.load([base+pm*BM,0])
    if CAUSAL:
        acc,l,m=attn_inner(acc,l,m,q,kd,vd,0,pm*BM,base,scale,offs_m,offs_n,BM,BN,False,WS)
        acc,l,m=attn_inner(acc,l,m,q,kd,vd,pm*BM,(pm+1)*BM,base,scale,offs_m,offs_n,BM,BN,True,WS)
    else:
        acc,l,m=attn_inner(acc,l,m,q,kd,vd,0,N,base,scale,offs_m,offs_n,BM,BN,False,WS)
    od.store([base+pm*BM,0],(acc/l[:,None]).to(tl.float16))
@triton.jit
def attention_ptr(q_ptr,k_ptr,v_ptr,o_ptr,scale,Z,N, BM: tl.constexpr,BN: tl.constexpr,D: tl.constexpr):
    pm=tl.program_id(0); z=tl.program_id(1)
    offs_m=pm*BM+tl.arange(0,BM); offs_n=tl.arange(0,BN); d=tl.arange(0,D)
    q=tl.load(q_ptr+(z*N+offs_m)[:,None]*D+d[None,:])
    m=tl.zeros([BM],dtype=tl.float32)-float("inf"); l=tl.zeros([BM],dtype=tl.float32)+1.0
    acc=tl.zeros([BM,D],dtype=tl.float32)
    for n in range(0,N,BN):
        k=tl.load(k_ptr+(z*N+n+offs_n)[None,:]*D+d[:,None])
        qk=tl.dot(q,k)
        mn=tl.maximum(m,tl.max(qk,1)*scale); qk=qk*scale-mn[:,None]
        p=tl.math.exp2(qk); alpha=tl.math.exp2(m-mn)
        l=l*alpha+tl.sum(p,1); acc=acc*alpha[:,None]
        v=tl.load(v_ptr+(z*N+n+offs_n)[:,None]*D+d[None,:])
        acc=tl.dot(p.to(tl.float16),v,acc)
        m=mn
    tl.store(o_ptr+(z*N+offs_m)[:,None]*D+d[None,:],(acc/l[:,None]).to(tl.float16))
@triton.jit
def attention_tiles(q_ptr,k_ptr,v_ptr,o_ptr,scale,Z,N, BM: tl.constexpr,BN: tl.constexpr,D: tl.constexpr, CAUSAL: tl.constexpr, WS: tl.constexpr):
    qd=tl.make_tensor_descriptor(q_ptr,[Z*N,D],[D,1],[BM,D]); kd=tl.make_tensor_descriptor(k_ptr,[Z*N,D],[D,1],[BN,D])
    vd=tl.make_tensor_descriptor(v_ptr,[Z*N,D],[D,1],[BN,D]); od=tl.make_tensor_descriptor(o_ptr,[Z*N,D],[D,1],[BM,D])
    nm=tl.cdiv(N,BM)
    for t in tl.range(tl.program_id(0),nm*Z,tl.num_programs(0),warp_specialize=WS):
        pm=t%nm; z=t//nm; base=z*N
        m=tl.zeros([BM],dtype=tl.float32)-float("inf"); l=tl.zeros([BM],dtype=tl.float32)+1.0
        acc=tl.zeros([BM,D],dtype=tl.float32)
        q=qd.load([base+pm*BM,0])
        offs_m=pm*BM+tl.arange(0,BM); offs_n=tl.arange(0,BN)
        hi=(pm+1)*BM if CAUSAL else N
        for n in tl.range(0,hi,BN):
            k=kd.load([base+n,0]).T
            qk=tl.dot(q,k)
            if CAUSAL:
                qk=tl.where(offs_m[:,None]>=(n+offs_n[None,:]),qk*scale,-1.0e6)
                mn=tl.maximum(m,tl.max(qk,1)); qk-=mn[:,None]
            else:
                mn=tl.maximum(m,tl.max(qk,1)*scale); qk=qk*scale-mn[:,None]
            p=tl.math.exp2(qk); alpha=tl.math.exp2(m-mn)
            l=l*alpha+tl.sum(p,1); acc=acc*alpha[:,None]
            v=vd.load([base+n,0])
            acc=tl.dot(p.to(tl.float16),v,acc); m=mn
        od.store([base+pm*BM,0],(acc/l[:,None]).to(tl.float16))
@triton.jit
def attention_backward(q_ptr,k_ptr,v_ptr,do_ptr,dk_ptr,dv_ptr,l_ptr,d_ptr,scale,N, BM: tl.constexpr,BN: tl.constexpr,D: tl.constexpr):
    pn=tl.program_id(0); z=tl.program_id(1)
    offs_n=pn*BN+tl.arange(0,BN); d=tl.arange(0,D)
    k=tl.load(k_ptr+(z*N+offs_n)[:,None]*D+d[None,:]); v=tl.load(v_ptr+(z*N+offs_n)[:,None]*D+d[None,:])
    dk=tl.zeros([BN,D],tl.float32); dv=tl.zeros([BN,D],tl.float32)
    for m in range(0,N,BM):
        offs_m=m+tl.arange(0,BM)
        q=tl.load(q_ptr+(z*N+offs_m)[:,None]*D+d[None,:]); do=tl.load(do_ptr+(z*N+offs_m)[:,None]*D+d[None,:])
        l=tl.load(l_ptr+z*N+offs_m); dl=tl.load(d_ptr+z*N+offs_m)
        p=tl.math.exp2(tl.dot(k,tl.trans(q))*scale-l[None,:])
        dv+=tl.dot(p.to(tl.float16),do)
        dk+=tl.dot((p*(tl.dot(v,tl.trans(do))-dl[None,:])).to(tl.float16),q)
    tl.store(dk_ptr+(z*N+offs_n)[:,None]*D+d[None,:],dk.to(tl.float16)); tl.store(dv_ptr+(z*N+offs_n)[:,None]*D+d[None,:],dv.to(tl.float16))
@triton.jit
def split_k(a_ptr,b_ptr,c_ptr,M,N,K,SK, BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.program_id(2)*BK+tl.arange(0,BK)
    a=a_ptr+rm[:,None]*K+rk[None,:]; b=b_ptr+rk[:,None]*N+rn[None,:]
    acc=tl.zeros((BM,BN),dtype=tl.float32)
    for k in range(0,tl.cdiv(K,BK*SK)):
        left=K-k*BK*SK
        acc=tl.dot(tl.load(a,mask=rk[None,:]<left,other=0.),tl.load(b,mask=rk[:,None]<left,other=0.),acc)
        a+=BK*SK; b+=BK*SK*N
    tl.atomic_add(c_ptr+rm[:,None]*N+rn[None,:],acc)
@triton.jit
def split_k_tma(a_ptr,b_ptr,c_ptr,M,N,K, BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    ad=tl.make_tensor_descriptor(a_ptr,[M,K],[K,1],[BM,BK]); bd=tl.make_tensor_descriptor(b_ptr,[N,K],[K,1],[BN,BK])
    pm=tl.program_id(0); pn=tl.program_id(1)
    acc=tl.zeros((BM,BN),dtype=tl.float32)
    for k in range(tl.program_id(2)*BK,K,tl.num_programs(2)*BK):
        acc=tl.dot(ad.load([pm*BM,k]),bd.load([pn*BN,k]).T,acc)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN)
    tl.atomic_add(c_ptr+rm[:,None]*N+rn[None,:],acc)
@triton.jit
def grouped(ga_ptr,gb_ptr,gc_ptr,sizes,G,NSM: tl.constexpr,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    tile=tl.program_id(0)
    last=0
    for g in range(G):
        gm=tl.load(sizes+g*3); gn=tl.load(sizes+g*3+1); gk=tl.load(sizes+g*3+2)
        nn=tl.cdiv(gn,BN); tiles=tl.cdiv(gm,BM)*nn
        while tile>=last and tile<last+tiles:
            a_ptr=tl.load(ga_ptr+g).to(tl.pointer_type(tl.float16)); b_ptr=tl.load(gb_ptr+g).to(tl.pointer_type(tl.float16))
            c_ptr=tl.load(gc_ptr+g).to(tl.pointer_type(tl.float16))
            rm=(tile-last)//nn*BM+tl.arange(0,BM); rn=(tile-last)%nn*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
            a=a_ptr+rm[:,None]*gk+rk[None,:]; b=b_ptr+rk[:,None]*gn+rn[None,:]
            acc=tl.zeros((BM,BN),dtype=tl.float32)
            for k in range(0,tl.cdiv(gk,BK)):
                acc=tl.dot(tl.load(a),tl.load(b),acc); a+=BK; b+=BK*gn
            tl.store(c_ptr+rm[:,None]*gn+rn[None,:],acc.to(tl.float16))
            tile+=NSM
        last+=tiles
@triton.jit
def rms_matmul(a_ptr,b_ptr,c_ptr,M,N,K,eps,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
    acc=tl.zeros((BM,BN),tl.float32); ss=tl.zeros([BM],tl.float32)
    for k in range(0,K,BK):
        x=tl.load(a_ptr+rm[:,None]*K+(k+rk)[None,:]); y=tl.load(b_ptr+(k+rk)[:,None]*N+rn[None,:])
        xf=x.to(tl.float32); ss+=tl.sum(xf*xf,1)
        acc=tl.dot(x,y,acc)
    acc=acc*tl.rsqrt(ss/K+eps)[:,None]
    tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def unrolled(a_ptr,b_ptr,c_ptr,M,N,K,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
    acc=tl.zeros((BM,BN),tl.float32)
    for k in tl.range(0,K,BK,loop_unroll_factor=2):
        acc=tl.dot(tl.trans(tl.load(a_ptr+rm[None,:]+(k+rk)[:,None]*M)),tl.trans(tl.load(b_ptr+(k+rk)[None,:]+rn[:,None]*K)),acc)
    tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def gated_tma(xd,wd,ud,od,K,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr,WS: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    a1=tl.zeros((BM,BN),tl.float32); a2=tl.zeros((BM,BN),tl.float32)
    for k in tl.range(0,K,BK,warp_specialize=WS):
        x=xd.load([pm*BM,k])
        a1=tl.dot(x,wd.load([k,pn*BN]),a1); a2=tl.dot(x,ud.load([k,pn*BN]),a2)
    od.store([pm*BM,pn*BN],(a1*tl.sigmoid(a1)*a2).to(tl.float16))
@triton.jit
def chained(a_ptr,b_ptr,c_ptr,o_ptr,N,BM: tl.constexpr,BN: tl.constexpr,D: tl.constexpr):
    pm=tl.program_id(0)
    rm=pm*BM+tl.arange(0,BM); rn=tl.arange(0,BN); d=tl.arange(0,D)
    a=tl.load(a_ptr+rm[:,None]*D+d[None,:])
    acc=tl.zeros((BM,D),tl.float32)
    for n in range(0,N,BN):
        b=tl.load(b_ptr+(n+rn)[None,:]*D+d[:,None]); c=tl.load(c_ptr+(n+rn)[:,None]*D+d[None,:])
        acc=tl.dot(tl.dot(a,b).to(tl.float16),c,acc)
    tl.store(o_ptr+rm[:,None]*D+d[None,:],acc.to(tl.float16))
@triton.jit
def linear_attention(q_ptr,k_ptr,v_ptr,o_ptr,s_ptr,N,BM: tl.constexpr,D: tl.constexpr,DV: tl.constexpr):
    z=tl.program_id(0)
    d=tl.arange(0,D); dv=tl.arange(0,DV); r=tl.arange(0,BM)
    s=tl.zeros((D,DV),tl.float32)
    for n in range(0,N,BM):
        q=tl.load(q_ptr+(z*N+n+r)[:,None]*D+d[None,:]); k=tl.load(k_ptr+(z*N+n+r)[None,:]*D+d[:,None]); v=tl.load(v_ptr+(z*N+n+r)[:,None]*DV+dv[None,:])
        o=tl.dot(q,s.to(tl.float16))
        p=tl.where(r[:,None]>=r[None,:],tl.dot(q,k),0.)
        o=tl.dot(p.to(tl.float16),v,o)
        s=tl.dot(k,v,s)
        tl.store(o_ptr+(z*N+n+r)[:,None]*DV+dv[None,:],o.to(tl.float16))
    tl.store(s_ptr+z*D*DV+d[:,None]*DV+dv[None,:],s)
@triton.jit
def layer_norm(x_ptr,y_ptr,w_ptr,b_ptr,N,eps,B: tl.constexpr,NS: tl.constexpr):
    row=tl.program_id(0); c=tl.arange(0,B)
    s=tl.zeros([B],tl.float32); ss=tl.zeros([B],tl.float32)
    for n in tl.range(0,N,B,num_stages=NS):
        x=tl.load(x_ptr+row*N+n+c,mask=n+c<N,other=0.).to(tl.float32)
        s+=x; ss+=x*x
    mean=tl.sum(s)/N; var=tl.sum(ss)/N-mean*mean; r=tl.rsqrt(var+eps)
    for n in tl.range(0,N,B,num_stages=NS):
        x=tl.load(x_ptr+row*N+n+c,mask=n+c<N,other=0.).to(tl.float32); w=tl.load(w_ptr+n+c,mask=n+c<N); b=tl.load(b_ptr+n+c,mask=n+c<N)
        tl.store(y_ptr+row*N+n+c,((x-mean)*r*w+b).to(tl.float16),mask=n+c<N)
@triton.jit
def fp8_blockscale(a_ptr,b_ptr,c_ptr,as_ptr,bs_ptr,M,N,K,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
    a=a_ptr+rm[:,None]*K+rk[None,:]; b=b_ptr+rk[:,None]+rn[None,:]*K
    acc=tl.zeros((BM,BN),tl.float32)
    for k in range(0,tl.cdiv(K,BK)):
        x=tl.load(a,mask=rk[None,:]<K-k*BK,other=0.); y=tl.load(b,mask=rk[:,None]<K-k*BK,other=0.)
        sa=tl.load(as_ptr+rm*tl.cdiv(K,BK)+k); sb=tl.load(bs_ptr+pn*tl.cdiv(K,BK)+k)
        acc+=tl.dot(x,y)*sa[:,None]*sb
        a+=BK; b+=BK
    tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def scaled(a_ptr,b_ptr,c_ptr,as_ptr,bs_ptr,M,N,K,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr,F: tl.constexpr):
    P: tl.constexpr=2 if F=="e2m1" else 1
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK//P); rs=tl.arange(0,BK//32)
    acc=tl.zeros((BM,BN),tl.float32)
    for k in range(0,tl.cdiv(K,BK)):
        x=tl.load(a_ptr+rm[:,None]*(K//P)+k*(BK//P)+rk[None,:]); y=tl.load(b_ptr+rn[None,:]*(K//P)+k*(BK//P)+rk[:,None])
        sa=tl.load(as_ptr+rm[:,None]*(K//32)+k*(BK//32)+rs[None,:]); sb=tl.load(bs_ptr+rn[:,None]*(K//32)+k*(BK//32)+rs[None,:])
        acc=tl.dot_scaled(x,sa,F,y,sb,F,acc)
    tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def gather_tma(ad,bd,c_ptr,idx,M,N,K,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN)
    ids=tl.load(idx+rm)
    acc=tl.zeros((BM,BN),tl.float32)
    for k in range(0,K,BK):
        acc=tl.dot(ad.gather(ids,k),bd.load([k,pn*BN]),acc)
    tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def mla(q_ptr,kv_ptr,o_ptr,scale,N,BQ: tl.constexpr,BN: tl.constexpr,D: tl.constexpr,R: tl.constexpr):
    z=tl.program_id(0)
    r=tl.arange(0,BQ); n=tl.arange(0,BN); d=tl.arange(0,D); rr=D+tl.arange(0,R)
    q=tl.load(q_ptr+(z*BQ+r)[:,None]*(D+R)+d[None,:]); qr=tl.load(q_ptr+(z*BQ+r)[:,None]*(D+R)+rr[None,:])
    m=tl.zeros([BQ],tl.float32)-float("inf"); l=tl.zeros([BQ],tl.float32); acc=tl.zeros([BQ,D],tl.float32)
    for st in range(0,N,BN):
        kv=tl.load(kv_ptr+(z*N+st+n)[:,None]*(D+R)+d[None,:]); kr=tl.load(kv_ptr+(z*N+st+n)[None,:]*(D+R)+rr[:,None])
        qk=tl.dot(q,tl.trans(kv)); qk=tl.dot(qr,kr,qk)*scale
        mn=tl.maximum(m,tl.max(qk,1)); p=tl.exp(qk-mn[:,None]); al=tl.exp(m-mn)
        acc=tl.dot(p.to(tl.float16),kv,acc*al[:,None]); l=l*al+tl.sum(p,1); m=mn
    tl.store(o_ptr+(z*BQ+r)[:,None]*D+d[None,:],(acc/l[:,None]).to(tl.float16))
@triton.jit
def conv(x_ptr,w_ptr,o_ptr,H,W,C,KC,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
    oh=rm//W; ow=rm%W
    acc=tl.zeros((BM,BN),tl.float32)
    for f in range(9):
        dy=f//3-1; dx=f%3-1
        iy=oh+dy; ix=ow+dx
        ok=(iy>=0)&(iy<H)&(ix>=0)&(ix<W)
        for c in range(0,C,BK):
            x=tl.load(x_ptr+((iy*W+ix)*C)[:,None]+(c+rk)[None,:],mask=ok[:,None]&((c+rk)[None,:]<C),other=0.)
            w=tl.load(w_ptr+(f*C+c+rk)[:,None]*KC+rn[None,:],mask=(c+rk)[:,None]<C,other=0.)
            acc=tl.dot(x,w,acc)
    tl.store(o_ptr+rm[:,None]*KC+rn[None,:],acc.to(tl.float16))
@triton.jit
def lora(x_ptr,w_ptr,a_ptr,b_ptr,o_ptr,M,N,K,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr,R: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK); rr=tl.arange(0,R)
    acc=tl.zeros((BM,BN),tl.float32); low=tl.zeros((BM,R),tl.float32)
    for k in range(0,K,BK):
        x=tl.load(x_ptr+rm[:,None]*K+(k+rk)[None,:])
        acc=tl.dot(x,tl.load(w_ptr+(k+rk)[:,None]*N+rn[None,:]),acc)
        low=tl.dot(x,tl.load(a_ptr+(k+rk)[:,None]*R+rr[None,:]),low)
    acc=tl.dot(low.to(tl.float16),tl.load(b_ptr+rr[:,None]*N+rn[None,:]),acc)
    tl.store(o_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def skip_blocks(a_ptr,b_ptr,c_ptr,flags,N,K,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    pm=tl.program_id(0); pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM); rn=pn*BN+tl.arange(0,BN); rk=tl.arange(0,BK)
    acc=tl.zeros((BM,BN),tl.float32)
    for k in range(0,tl.cdiv(K,BK)):
        if tl.load(flags+k)!=0:
            acc=tl.dot(tl.load(a_ptr+rm[:,None]*K+(k*BK+rk)[None,:]),tl.load(b_ptr+(k*BK+rk)[:,None]*N+rn[None,:]),acc)
    tl.store(c_ptr+rm[:,None]*N+rn[None,:],acc.to(tl.float16))
@triton.jit
def grouped_tma(ga,gb,gc,sizes,G,NSM: tl.constexpr,BM: tl.constexpr,BN: tl.constexpr,BK: tl.constexpr):
    tile=tl.program_id(0); last=0
    for g in range(G):
        gm=tl.load(sizes+g*3); gn=tl.load(sizes+g*3+1); gk=tl.load(sizes+g*3+2)
        nn=tl.cdiv(gn,BN); tiles=tl.cdiv(gm,BM)*nn
        if tile>=last and tile<last+tiles:
            ad=tl.make_tensor_descriptor(tl.load(ga+g).to(tl.pointer_type(tl.float16)),[gm,gk],[gk,1],[BM,BK])
            bd=tl.make_tensor_descriptor(tl.load(gb+g).to(tl.pointer_type(tl.float16)),[gn,gk],[gk,1],[BN,BK])
            cd=tl.make_tensor_descriptor(tl.load(gc+g).to(tl.pointer_type(tl.float16)),[gm,gn],[gn,1],[BM,BN])
            while tile>=last and tile<last+tiles:
                i=tile-last
                acc=tl.zeros((BM,BN),tl.float32)
                for k in range(0,tl.cdiv(gk,BK)):
                    acc=tl.dot(ad.load([i//nn*BM,k*BK]),bd.load([i%nn*BN,k*BK]).T,acc)
                cd.store([i//nn*BM,i%nn*BN],acc.to(tl.float16))
                tile+=NSM
        last+=tiles
MM={'a_ptr':'*fp16','b_ptr':'*fp16','c_ptr':'*fp16','M':'i32','N':'i32','K':'i32'}
AT={'q_ptr':'*fp16','k_ptr':'*fp16','v_ptr':'*fp16','o_ptr':'*fp16','scale':'fp32','Z':'i32','N':'i32'}
BW={**{x+'_ptr':'*fp16' for x in ('q','k','v','do','dk','dv')},'l_ptr':'*fp32','d_ptr':'*fp32','scale':'fp32','N':'i32'}
GR={'ga_ptr':'*i64','gb_ptr':'*i64','gc_ptr':'*i64','sizes':'*i32','G':'i32'}
H=lambda *shape: f"tensordesc<fp16[{','.join(map(str,shape))}]>"
B={'BM':128,'BN':128,'BK':64}; A={'BM':128,'BN':64,'D':64}
rows=[]
def plain(text):
    """Without locations, to keep the files small."""
    text=re.sub(r'^#loc.*\n','',text,flags=re.M)
    out=[]; i=0
    while i<len(text):
        j=text.find(' loc(',i)
        if j<0: out.append(text[i:]); break
        out.append(text[i:j]); depth=0; k=j+4
        while True:
            depth+={'(':1,')':-1}.get(text[k],0); k+=1
            if depth==0: break
        i=k
    return ''.join(out)
for st in range(1,6):
    for cc in (80,90,100):
        rows.append((f'matmul.sm{cc}.s{st}',matmul,MM,B,cc,st,8 if cc>80 else 4))
        rows.append((f'persistent_ptr.sm{cc}.s{st}',persistent_ptr,MM,B,cc,st,8 if cc>80 else 4))
        rows.append((f'attention_ptr.sm{cc}.s{st}',attention_ptr,AT,A,cc,st,4))
    for cc in (90,100):
        rows.append((f'matmul_tma.sm{cc}.s{st}',matmul_tma,MM,{**B,'WS':False},cc,st,8))
        rows.append((f'persistent.sm{cc}.s{st}',persistent,MM,{**B,'WS':False,'FL':False},cc,st,8))
        rows.append((f'persistent_flat.sm{cc}.s{st}',persistent,MM,{**B,'WS':False,'FL':True},cc,st,8))
        rows.append((f'split_k_tma.sm{cc}.s{st}',split_k_tma,{**MM,'c_ptr':'*fp32'},B,cc,st,4))
        rows.append((f'attention.sm{cc}.s{st}',attention,AT,{**A,'CAUSAL':False,'WS':False},cc,st,4))
        rows.append((f'attention_causal.sm{cc}.s{st}',attention,AT,{**A,'CAUSAL':True,'WS':False},cc,st,4))
        rows.append((f'attention_tiles.sm{cc}.s{st}',attention_tiles,AT,{**A,'CAUSAL':False,'WS':False},cc,st,4))
        rows.append((f'attention_tiles_causal.sm{cc}.s{st}',attention_tiles,AT,{**A,'CAUSAL':True,'WS':False},cc,st,4))
    for cc in (80,90,100):
        rows.append((f'attention_backward.sm{cc}.s{st}',attention_backward,BW,{'BM':64,'BN':128,'D':64},cc,st,8))
        rows.append((f'split_k.sm{cc}.s{st}',split_k,{**MM,'c_ptr':'*fp32','SK':'i32'},B,cc,st,4))
        rows.append((f'grouped.sm{cc}.s{st}',grouped,GR,{**B,'NSM':132},cc,st,4))
    for cc in (90,100):
        rows.append((f'matmul_ws.sm{cc}.s{st}',matmul_tma,MM,{**B,'WS':True},cc,st,4))
        rows.append((f'persistent_ws.sm{cc}.s{st}',persistent,MM,{**B,'WS':True,'FL':False},cc,st,4))
        rows.append((f'attention_ws.sm{cc}.s{st}',attention,AT,{**A,'CAUSAL':False,'WS':True},cc,st,4))
        rows.append((f'attention_tiles_ws.sm{cc}.s{st}',attention_tiles,AT,{**A,'CAUSAL':False,'WS':True},cc,st,4))
        rows.append((f'attention_tiles_causal_ws.sm{cc}.s{st}',attention_tiles,AT,{**A,'CAUSAL':True,'WS':True},cc,st,4))
T3={'q_ptr':'*fp16','k_ptr':'*fp16','v_ptr':'*fp16','o_ptr':'*fp16'}
for st in range(1,6):
    for cc in (80,90,100):
        rows.append((f'rms_matmul.sm{cc}.s{st}',rms_matmul,{**MM,'eps':'fp32'},B,cc,st,8))
        rows.append((f'unrolled.sm{cc}.s{st}',unrolled,MM,{'BM':64,'BN':64,'BK':32},cc,st,4))
        rows.append((f'chained.sm{cc}.s{st}',chained,{'a_ptr':'*fp16','b_ptr':'*fp16','c_ptr':'*fp16','o_ptr':'*fp16','N':'i32'},{'BM':128,'BN':64,'D':64},cc,st,4))
        rows.append((f'linear_attention.sm{cc}.s{st}',linear_attention,{**T3,'s_ptr':'*fp32','N':'i32'},{'BM':64,'D':64,'DV':64},cc,st,4))
        rows.append((f'layer_norm.sm{cc}.s{st}',layer_norm,{'x_ptr':'*fp16','y_ptr':'*fp16','w_ptr':'*fp32','b_ptr':'*fp32','N':'i32','eps':'fp32'},{'B':1024,'NS':st},cc,st,4))
        rows.append((f'mla.sm{cc}.s{st}',mla,{'q_ptr':'*fp16','kv_ptr':'*fp16','o_ptr':'*fp16','scale':'fp32','N':'i32'},{'BQ':64,'BN':64,'D':128,'R':64},cc,st,4))
        rows.append((f'conv.sm{cc}.s{st}',conv,{'x_ptr':'*fp16','w_ptr':'*fp16','o_ptr':'*fp16','H':'i32','W':'i32','C':'i32','KC':'i32'},B,cc,st,4))
        rows.append((f'lora.sm{cc}.s{st}',lora,{**{k+'_ptr':'*fp16' for k in ('x','w','a','b','o')},'M':'i32','N':'i32','K':'i32'},{'BM':64,'BN':128,'BK':64,'R':16},cc,st,4))
        rows.append((f'skip_blocks.sm{cc}.s{st}',skip_blocks,{'a_ptr':'*fp16','b_ptr':'*fp16','c_ptr':'*fp16','flags':'*i32','N':'i32','K':'i32'},{'BM':64,'BN':64,'BK':64},cc,st,4))
    for cc in (90,100):
        rows.append((f'grouped_tma.sm{cc}.s{st}',grouped_tma,{'ga':'*i64','gb':'*i64','gc':'*i64','sizes':'*i32','G':'i32'},{**B,'NSM':132},cc,st,4))
        fp8={'a_ptr':'*fp8e4nv','b_ptr':'*fp8e4nv','c_ptr':'*fp16'}
        rows.append((f'fp8_blockscale.sm{cc}.s{st}',fp8_blockscale,{**fp8,'as_ptr':'*fp32','bs_ptr':'*fp32','M':'i32','N':'i32','K':'i32'},{'BM':128,'BN':128,'BK':128},cc,st,8))
        rows.append((f'scaled.sm{cc}.s{st}',scaled,{**fp8,'as_ptr':'*u8','bs_ptr':'*u8','M':'i32','N':'i32','K':'i32'},{'BM':128,'BN':128,'BK':128,'F':'e4m3'},cc,st,4))
    rows.append((f'gated_ws.sm100.s{st}',gated_tma,{'xd':H(128,64),'wd':H(64,64),'ud':H(64,64),'od':H(128,64),'K':'i32'},{'BM':128,'BN':64,'BK':64,'WS':True},100,st,4))
    rows.append((f'gather.sm100.s{st}',gather_tma,{'ad':H(1,64),'bd':H(64,128),'c_ptr':'*fp16','idx':'*i32','M':'i32','N':'i32','K':'i32'},B,100,st,4))
# two CTAs a program, each with its part of the tiles
for name,f,ce,cc,nw in (('matmul_tma_ctas.sm90',matmul_tma,{**B,'WS':False},90,8),('matmul_ws_ctas.sm100',matmul_tma,{**B,'WS':True},100,4),
                        ('persistent_ctas.sm90',persistent,{**B,'WS':False,'FL':False},90,8),('matmul_ctas.sm100',matmul,B,100,8)):
    rows.append((name+'.s3',f,MM,ce,cc,3,nw,2))
out=sys.argv[1]
os.makedirs(out,exist_ok=True)
for name,f,sig,ce,cc,st,nw,*ctas in rows:
    if len(sys.argv)>2 and not any(name.startswith(x) for x in sys.argv[2:]): continue
    at={(i,):[['tt.divisibility',16]] for i,k in enumerate(sig) if sig[k]!='fp32' and k not in('Z',)}
    try:
        c=triton.compile(ASTSource(f,signature={**sig,**{k:'constexpr' for k in ce}},constexprs=ce,attrs=at),target=GPUTarget('cuda',cc,32),options={'num_warps':nw,'num_stages':st,'num_ctas':ctas[0] if ctas else 1})
        with open(f'{out}/{name}.ttgir', 'w', encoding='utf-8') as f:
            f.write(plain(c.asm['ttgir']))
    except Exception as e:  # noqa: BLE001
        print(name, type(e).__name__, str(e)[:150], file=sys.stderr)
