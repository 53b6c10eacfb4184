using System;
using System.Collections.Generic;
using Alias = Shop.Models.Item;

namespace Shop.Core;

public interface IRepo<T> where T : class
{
    int Count { get; }
    T Find(int id);
    Task<T> LoadAsync(int id, CancellationToken token = default);
}

public enum Color { Red, Green = 2, Blue }

public record Point(int X, int Y);

[Serializable]
public abstract partial class Service<T> : Base, IRepo<T> where T : class, new()
{
    private readonly Dictionary<int, T> _cache = new Dictionary<int, T>();
    public const int Max = 10;
    public static event EventHandler Changed;
    public string Name { get; set; } = Helper.DefaultName();
    public int Count => _cache.Count;
    public int Total
    {
        get { return Compute(); }
        private set { _total = value; }
    }

    public Service(int size) : base(size)
    {
        Init(size);
    }

    ~Service() { Dispose(); }

    public T Find(int id)
    {
        if (_cache.TryGetValue(id, out var found))
            return found;
        foreach (var item in Items())
        {
            item.Touch();
        }
        var list = new List<T> { Make<T>(), null };
        int Local(int x) => x + 1;
        return list.Where(x => Check(x)).FirstOrDefault() ?? Create();
    }

    public static Service<T> operator +(Service<T> a, Service<T> b) => a.Merge(b);
    protected abstract void Init(int size);
    public async Task<T> LoadAsync(int id, CancellationToken token) => await Fetch(id, token);
    public T this[int i] => _cache[i];

    private class Nested { internal void Go() { Run($"v {Show(1)}"); } }
}

public static class Extensions
{
    public static string Shout(this string s) => s.ToUpper();
    [Fact]
    public void Works() { Assert.Equal(1, new Point(1, 2).X); }
}
